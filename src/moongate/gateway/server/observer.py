"""Gets reports of the state of a server: the parent of a worker, or the service manager of a single process."""

from __future__ import annotations

from typing import Protocol


class ServerObserver(Protocol):
    """The server calls each method in its event loop."""

    def ready(self) -> None:
        """It accepts connections."""

    def heartbeat(self) -> None:
        """Its event loop runs. Called many times per second."""

    def reloading(self) -> None:
        """It begins to read its configuration again."""

    def reloaded(self) -> None:
        """It has done so, successfully or not."""

    def stopping(self) -> None:
        """It begins to drain."""
