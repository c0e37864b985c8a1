"""What a worker works on at this moment, for the stall watch, whose thread reads it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import ParamSpec, TypeVar

Given = ParamSpec("Given")
Result = TypeVar("Result")


class Activity:
    """The tasks of requests that are worked on while they wait: by a callback, or in threads."""

    __slots__ = ("feeding", "in_threads")

    def __init__(self) -> None:
        self.feeding: object = None  # the task of the stream whose read is being handled
        self.in_threads: set[object] = set()  # the tasks that wait for a thread

    async def in_thread(self, function: Callable[Given, Result], *args: Given.args, **named: Given.kwargs) -> Result:
        """Call the function in a thread, so that the loop serves others meanwhile."""
        task = asyncio.current_task()
        self.in_threads.add(task)
        try:
            return await asyncio.to_thread(function, *args, **named)
        finally:
            self.in_threads.discard(task)
