"""The admin listener's checks and its routes, over a real socket."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.gateway.admin.listening import KEY, Listening, listening
from tests.support.http import Reply, get, post, request

from moongate.gateway.admin.route import AdminContext, AdminRequest, AdminResponse, AdminRoute
from moongate.gateway.admin.routes import ADMIN_ROUTES
from moongate.gateway.store.connect import open_database
from moongate.gateway.store.keys import KeyStore

INTRUDERS: dict[str, tuple[int, dict[str, str]]] = {
    "no key": (401, {}),
    "empty key": (401, {"authorization": "Bearer "}),
    "wrong key": (401, {"authorization": "Bearer wrong"}),
    "wrong x-api-key": (401, {"x-api-key": "wrong"}),
    "key without a scheme": (401, {"authorization": KEY}),
    "longer key": (401, {"authorization": f"Bearer {KEY}x"}),
    "foreign host": (403, {"authorization": f"Bearer {KEY}", "host": "evil.example"}),
    "foreign origin": (403, {"authorization": f"Bearer {KEY}", "origin": "https://evil.example"}),
    "foreign site": (403, {"authorization": f"Bearer {KEY}", "sec-fetch-site": "cross-site"}),
}


@pytest.fixture(scope="module")
def admin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Listening]:
    with listening(tmp_path_factory.mktemp("store") / "moongate.db") as running:
        yield running


def send(admin: Listening, method: str, path: str, body: object = None) -> Reply:
    data = None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
    return request(method, admin.root + path, data, key=KEY, headers={})


def error(reply: Reply) -> tuple[int, Any, Any]:
    found = reply.json()["error"]
    assert set(found) == {"message", "type", "param", "code"}
    return reply.status, found["code"], found["param"]


@pytest.mark.parametrize("intruder", INTRUDERS)
def test_every_route_refuses_intruders(admin: Listening, intruder: str) -> None:
    status, headers = INTRUDERS[intruder]
    for path in [*(route.path.replace("{id}", "x") for route in ADMIN_ROUTES), "/", "/ui", "/admin/v1/nothing"]:
        for method in ("GET", "POST", "PATCH", "DELETE", "OPTIONS"):
            reply = request(method, admin.root + path, None, key="", headers=headers)
            assert reply.status == status, (method, path)
            assert KEY.encode() not in reply.body
    assert send(admin, "GET", "/admin/v1/keys").json()["data"] == []


def test_both_headers_take_the_key_and_answers_are_not_cached(admin: Listening) -> None:
    for headers in ({"authorization": f"bearer {KEY}"}, {"x-api-key": KEY, "origin": admin.root}):
        reply = get(admin.root + "/admin/v1/keys", headers=headers)
        assert (reply.status, reply.headers["cache-control"]) == (200, "no-store")
        assert reply.headers["x-request-id"].startswith("admin_")


def test_errors_have_one_shape_with_the_place_and_what_to_do(admin: Listening) -> None:
    assert error(send(admin, "GET", "/admin/v1/keys?limit=0")) == (400, "bad_query", "limit")
    assert error(send(admin, "GET", "/admin/v1/keys?colour=red")) == (400, "unknown_parameter", "colour")
    assert error(send(admin, "GET", "/admin/v1/keys?limit=1&limit=2")) == (400, "bad_query", "limit")
    assert error(send(admin, "GET", "/admin/v1/keys?%ff=1")) == (400, "bad_query", None)
    assert error(send(admin, "GET", "/admin/v1/keys/key_x")) == (404, "no_such_key", None)
    assert error(send(admin, "GET", "/admin/v1/nothing")) == (404, "no_such_path", None)
    assert error(send(admin, "POST", "/admin/v1/keys", {"rpm": -1})) == (400, None, "rpm")
    assert error(send(admin, "POST", "/admin/v1/keys", {"colour": "red"})) == (400, "unknown_field", "colour")
    assert error(send(admin, "POST", "/admin/v1/keys", {"team": "team_x"})) == (409, "no_such_team", "team")
    assert error(send(admin, "POST", "/admin/v1/keys", {"expires": "999999999d"})) == (400, None, "expires")
    assert error(send(admin, "POST", "/admin/v1/keys", b"{")) == (400, "invalid_json", None)
    assert error(send(admin, "POST", "/admin/v1/keys/key_x/rotate", {"colour": 1})) == (400, "unknown_field", "colour")
    assert error(send(admin, "POST", "/admin/v1/keys/key_x/enable", {})) == (400, "unexpected_body", None)
    assert error(send(admin, "POST", "/admin/v1/keys", b" " * 70_000)) == (413, "too_large", None)
    assert error(send(admin, "GET", "/admin/v1/usage?by=colour")) == (400, "bad_dimension", "by")
    assert error(send(admin, "GET", "/admin/v1/usage?from=yesterday")) == (400, "bad_query", "from")
    assert error(send(admin, "GET", "/admin/v1/audit?before=x")) == (400, "bad_query", "before")


def test_a_wrong_method_is_answered_with_those_that_are_right(admin: Listening) -> None:
    reply = send(admin, "PUT", "/admin/v1/keys")
    assert (reply.status, reply.headers["allow"]) == (405, "GET, HEAD, POST")
    assert send(admin, "HEAD", "/admin/v1/keys").status == 200


def test_pages_follow_each_other(tmp_path: Path) -> None:
    with listening(tmp_path / "moongate.db") as admin:
        made = sorted(send(admin, "POST", "/admin/v1/keys", {"name": str(n)}).json()["id"] for n in range(5))
        seen: list[str] = []
        more = True
        while more:
            after = f"&after={seen[-1]}" if seen else ""
            found = send(admin, "GET", f"/admin/v1/keys?limit=2{after}").json()
            seen += [each["id"] for each in found["data"]]
            more = found["has_more"]
        assert seen == made
        last = send(admin, "GET", "/admin/v1/audit?limit=3").json()
        assert (len(last["data"]), last["has_more"]) == (3, True)
        rest = send(admin, "GET", f"/admin/v1/audit?limit=3&before={last['data'][-1]['id']}").json()
        assert (len(rest["data"]), rest["has_more"]) == (2, False)


def test_teams_are_changed_and_switched(tmp_path: Path) -> None:
    with listening(tmp_path / "moongate.db") as admin:
        assert error(send(admin, "POST", "/admin/v1/teams", {})) == (400, None, "name")
        made = send(admin, "POST", "/admin/v1/teams", {"name": "blue", "budget": 5, "reset": "month"}).json()
        assert error(send(admin, "POST", "/admin/v1/teams", {"name": "blue"})) == (409, "name_in_use", "name")
        each = f"/admin/v1/teams/{made['id']}"
        assert send(admin, "GET", each).json() == made
        assert send(admin, "PATCH", each, {"budget": None, "rpm": 5.0}).json() == {**made, "budget": None, "rpm": 5}
        assert [send(admin, "POST", f"{each}/{word}").json()["disabled"] for word in ("disable", "enable")] == [
            True,
            False,
        ]
        assert [team["name"] for team in send(admin, "GET", "/admin/v1/teams").json()["data"]] == ["blue"]
        key = send(admin, "POST", "/admin/v1/keys", {"team": made["id"]}).json()
        assert [found["id"] for found in send(admin, "GET", f"/admin/v1/keys?team={made['id']}").json()["data"]] == [
            key["id"]
        ]
        assert send(admin, "DELETE", f"/admin/v1/keys/{key['id']}").json() == {"id": key["id"], "deleted": True}
        assert send(admin, "DELETE", each).json()["deleted"] is True
        assert error(send(admin, "GET", each)) == (404, "no_such_team", None)


def test_a_gateway_without_a_store_says_so_and_has_metrics() -> None:
    with listening(None) as admin:
        assert error(send(admin, "GET", "/admin/v1/keys")) == (404, "store_off", None)
        reply = send(admin, "GET", "/metrics")
        assert reply.headers["content-type"].startswith("text/plain; version=0.0.4")
        assert b"moongate_build_info" in reply.body


def test_a_store_that_cannot_be_used_is_an_error_and_is_opened_again(tmp_path: Path) -> None:
    path = tmp_path / "moongate.db"
    path.write_bytes(b"no database" * 1000)
    with listening(path) as admin:
        reply = send(admin, "GET", "/admin/v1/keys")
        assert reply.status == 503
        assert "restore a backup" in reply.json()["error"]["message"]
        path.unlink()
        assert send(admin, "GET", "/admin/v1/keys").status == 200


def test_wrong_keys_are_slow_and_few_at_a_time(tmp_path: Path) -> None:
    with listening(tmp_path / "moongate.db", delay=0.6) as admin, ThreadPoolExecutor(12) as pool:
        url, began = admin.root + "/admin/v1/keys", time.monotonic()
        tries = [pool.submit(get, url, key="wrong") for _ in range(12)]
        time.sleep(0.3)
        # While many wait, nobody learns whether a key is right.
        assert get(url, key=KEY).json()["error"]["code"] == "too_many_wrong_keys"
        assert get(url, key=KEY).headers["retry-after"] == "1"
        statuses = sorted(each.result().status for each in tries)
        assert statuses == [401] * 4 + [429] * 8
        assert time.monotonic() - began > 0.5
        assert get(url, key=KEY).status == 200


def test_a_bug_shows_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    def fail(_context: AdminContext, _request: AdminRequest) -> AdminResponse:
        raise ValueError(f"the key is {KEY}")

    with listening(None, routes=[AdminRoute("GET", "/fail", "", fail, uses_store=False)]) as admin:
        assert error(send(admin, "GET", "/fail")) == (500, "internal", None)
    assert KEY not in capsys.readouterr().err


def test_too_many_requests_for_the_store_are_refused(tmp_path: Path) -> None:
    go_on = threading.Event()

    def slow(_context: AdminContext, _request: AdminRequest) -> AdminResponse:
        go_on.wait(20)
        return 200, [], b""

    with (
        listening(tmp_path / "x.db", routes=[AdminRoute("GET", "/slow", "", slow)]) as admin,
        ThreadPoolExecutor(70) as pool,
    ):
        tries = [pool.submit(get, admin.root + "/slow", key=KEY) for _ in range(70)]
        end = time.monotonic() + 20
        while sum(each.done() for each in tries) < 6 and time.monotonic() < end:
            time.sleep(0.02)
        go_on.set()
        statuses = [each.result().status for each in tries]
        assert (statuses.count(503), statuses.count(200)) == (6, 64)


def test_changes_that_come_at_once_do_not_undo_each_other(tmp_path: Path) -> None:
    with listening(tmp_path / "moongate.db") as admin, ThreadPoolExecutor(4) as pool:
        made = send(admin, "POST", "/admin/v1/keys", {}).json()
        fields = ("rpm", "tpm", "concurrency", "token_budget")
        for each in [pool.submit(send, admin, "PATCH", f"/admin/v1/keys/{made['id']}", {name: 7}) for name in fields]:
            assert each.result().status == 200
        found = send(admin, "GET", f"/admin/v1/keys/{made['id']}").json()
        assert [found[name] for name in fields] == [7] * 4
    database = open_database(str(tmp_path / "moongate.db"))
    assert len(KeyStore(database).audit()) == 5
    database.close()


def test_a_slow_body_is_read_in_pieces(admin: Listening) -> None:
    async def talk(port: int) -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        body = json.dumps({"name": "slow"}).encode()
        head = (
            f"POST /admin/v1/teams HTTP/1.1\r\nhost: 127.0.0.1\r\nx-api-key: {KEY}\r\ncontent-length: {len(body)}\r\n"
        )
        writer.write(head.encode() + b"connection: close\r\n\r\n" + body[:5])
        await asyncio.sleep(0.1)
        writer.write(body[5:])
        found = await reader.read()
        writer.close()
        await writer.wait_closed()
        return found

    assert b"201 Created" in asyncio.run(talk(int(admin.root.rpartition(":")[2])))


def test_post_refuses_without_a_key(admin: Listening) -> None:
    assert post(admin.root + "/admin/v1/keys", {}).status == 401
