"""What an errand waits for. A subclass of a C class, which the compiler cannot make: this file stays Python."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


class Waiter(asyncio.Future[None]):
    """A future whose `wake` lets an errand go on before it returns. A task goes on in its turn."""

    on_wake: Callable[[], None] | None = None

    def wake(self) -> None:
        """What is waited for has come. Call it last: the errand may do anything."""
        if not self.done():
            self.set_result(None)
            if self.on_wake is not None:
                self.on_wake()
