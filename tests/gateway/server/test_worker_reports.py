from __future__ import annotations

import os
import time

from moongate.gateway.server.worker_reports import WorkerReports


def test_a_parent_sees_what_its_workers_write() -> None:
    reports = WorkerReports(2)
    assert not reports.all_started()
    assert reports.last_heartbeat(1) is None
    pid = os.fork()
    if pid == 0:
        report = reports.of(1)
        report.ready()
        report.reloading()
        report.reloaded()
        report.stopping()
        os._exit(0)
    os.waitpid(pid, 0)
    last = reports.last_heartbeat(1)
    assert last is not None
    assert 0 <= time.monotonic() - last < 10
    assert reports.reloads() == [0, 1]
    assert not reports.all_started()
    reports.of(0).heartbeat()
    assert reports.all_started()
    reports.reset(1)
    assert reports.last_heartbeat(1) is None
    assert reports.reloads() == [0, 1]
