from __future__ import annotations

import asyncio
import threading

from moongate.gateway.server.activity import Activity


def test_a_request_is_named_as_long_as_its_thread_works() -> None:
    activity = Activity()

    def work(word: str) -> tuple[str, set[object], bool]:
        return word, set(activity.in_threads), threading.current_thread() is threading.main_thread()

    async def run() -> None:
        task = asyncio.current_task()
        assert await activity.in_thread(work, "done") == ("done", {task}, False)

    asyncio.run(run())
    assert activity.in_threads == set()
