"""Tasks for asyncio: `tasks` is the interface, `eager_task` the fast implementation, `loop_task` the plain one."""
