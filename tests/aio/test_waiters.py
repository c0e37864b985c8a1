from __future__ import annotations

import asyncio

from moongate.aio.waiters import Waiters


def test_all_who_wait_are_woken_and_who_was_cancelled_is_skipped() -> None:
    async def run() -> None:
        waiters = Waiters(asyncio.get_running_loop())
        waiters.wake()
        tasks = [asyncio.create_task(waiters.wait()) for _ in range(3)]
        await asyncio.sleep(0)
        tasks[1].cancel()
        waiters.wake()
        results = await asyncio.gather(*tasks, return_exceptions=True)
        assert [type(each) for each in results] == [type(None), asyncio.CancelledError, type(None)]

    asyncio.run(run())
