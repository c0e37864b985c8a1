"""The last requests as the pages see them: in order of time over all workers, parsed when looked at."""

from __future__ import annotations

from pathlib import Path

from moongate.gateway.inspect.recent_requests import MAX_REQUESTS, RecentRequests
from moongate.gateway.record.request_ring import RING_BYTES, RequestRing


def line(at: int, name: str) -> bytes:
    return b'{"time":"2026-11-18T10:00:%02d.000Z","id":"%b","status":200}\n' % (at, name.encode())


def ids(recent: RecentRequests, after: int = 0) -> list[str]:
    return [str(each.line["id"]) for each in recent.after(after)]


def test_requests_of_all_workers_are_in_the_order_of_time(tmp_path: Path) -> None:
    own, other = RequestRing(tmp_path, 0), RequestRing(tmp_path, 1)
    recent = RecentRequests(own, tmp_path, 0, RING_BYTES)
    own.write([line(1, "a"), line(3, "c")])
    other.write([line(2, "b"), line(4, "d")])
    recent.gather()
    assert ids(recent) == ["d", "c", "b", "a"]
    assert [each.number for each in recent.all] == [1, 2, 3, 4]
    own.write([line(5, "e")])
    recent.gather()
    assert ids(recent, 4) == ["e"]
    assert ids(recent, 5) == ids(recent, 9) == []
    found = recent.find("b")
    assert found is not None
    assert (found.number, found.line["status"]) == (2, 200)
    assert recent.find("x") is None


def test_the_oldest_make_room_and_what_is_no_line_is_left_out() -> None:
    ring = RequestRing()
    recent = RecentRequests(ring)
    for first in range(0, MAX_REQUESTS + 500, 500):
        ring.write([line(0, f"r{number}") for number in range(first, first + 500)])
        recent.gather()
    ring.write([b"no line\n", b"\n"])
    recent.gather()
    assert (recent.last, len(recent.all)) == (MAX_REQUESTS + 500, MAX_REQUESTS)
    assert ids(recent)[-1] == "r500"
    assert ids(recent, recent.last - 1) == [f"r{MAX_REQUESTS + 499}"]
