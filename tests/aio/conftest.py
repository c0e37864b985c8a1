"""Both implementations of `moongate.aio.tasks`, and callbacks to run them in."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest
import uvloop

from moongate.aio.tasks import EAGER, LOOP, TaskSupport

Loop = asyncio.AbstractEventLoop
Action = Callable[[Loop, "Results"], object]
Then = Callable[["Results"], Awaitable[None]]


class Results:
    """What tasks ended with, in order; None is success."""

    def __init__(self) -> None:
        self.all: list[BaseException | None] = []

    def __call__(self, error: BaseException | None) -> None:
        self.all.append(error)


async def until_done(results: Results) -> None:
    while not results.all:
        await asyncio.sleep(0)


@pytest.fixture(params=[EAGER, LOOP], ids=["eager", "loop"])
def support(request: pytest.FixtureRequest) -> TaskSupport:
    assert isinstance(request.param, TaskSupport)
    return request.param


@pytest.fixture(params=[uvloop.new_event_loop, asyncio.new_event_loop], ids=["uvloop", "asyncio"])
def in_callback(request: pytest.FixtureRequest) -> Callable[..., Results]:
    """Runs an action as a socket's callback runs: in the loop, outside of any task."""

    def run(action: Action, then: Then = until_done) -> Results:
        results = Results()

        async def main() -> None:
            loop = asyncio.get_running_loop()
            done = loop.create_future()

            def call() -> None:
                try:
                    action(loop, results)
                except BaseException as error:
                    done.set_exception(error)
                else:
                    done.set_result(None)

            loop.call_soon(call)
            await done
            async with asyncio.timeout(20):
                await then(results)

        with asyncio.Runner(loop_factory=request.param) as runner:
            runner.run(main())
        return results

    return run
