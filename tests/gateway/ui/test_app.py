"""The pages over real sockets: who gets in, what a browser is told, what is captured, and what others wrote."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest
from tests.gateway.ui.running import ADMIN_KEY, HOSTILE, Pages, pages, until
from tests.support.canary import CLIENT_KEY, PROVIDER_KEY, WATCH
from tests.support.http import get, request

from moongate.gateway.ui.asset_files import NAMES
from moongate.gateway.ui.page_table import PAGES

PATHS = [(method, path.replace("{id}", "x").replace("{part}", "came")) for method, path, _ in PAGES]
INTRUDERS = {
    "no cookie": {},
    "wrong cookie": {"cookie": "moongate_session=wrong"},
    "admin key as cookie": {"cookie": f"moongate_session={ADMIN_KEY}"},
    "client key": {"authorization": f"Bearer {CLIENT_KEY}"},
}


@pytest.fixture(scope="module")
def ui(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pages]:
    with pages(tmp_path_factory.mktemp("ui")) as running:
        assert running.log_in().status == 303
        yield running


@pytest.mark.parametrize("intruder", INTRUDERS)
def test_every_page_refuses_intruders(ui: Pages, intruder: str) -> None:
    for method, path in [*PATHS, ("GET", "/ui"), ("GET", "/"), ("POST", "/ui/logout"), ("GET", "/ui/nothing")]:
        headers = {**INTRUDERS[intruder], "origin": ui.admin}
        reply = request(method, ui.admin + path, None, key="", headers=headers)
        if method == "GET" and path != "/ui/events":
            assert (reply.status, reply.headers["location"], reply.body) == (303, "/ui/login", b""), path
        else:
            assert reply.status == 401, path


def test_every_page_refuses_foreign_hosts_and_origins(ui: Pages) -> None:
    for method, path in [*PATHS, ("GET", "/ui/login"), ("POST", "/ui/login"), ("GET", "/ui/assets/page.js")]:
        for headers in ({"host": "evil.example"}, {"origin": "https://evil.example"}, {"sec-fetch-site": "cross-site"}):
            reply = request(method, ui.admin + path, None, key="", headers={"cookie": ui.cookie, **headers})
            assert reply.status == 403, (path, headers)


def test_forms_need_the_session_s_token_and_an_origin(ui: Pages) -> None:
    for method, path in PATHS:
        if method == "POST":
            assert ui.form(path, {"requests": "5"}, token=False).status == 403
            assert ui.form(path, {"token": "0" * 64}, token=False).status == 403
    reply = request("POST", ui.admin + "/ui/requests/capture", b"requests=5", key="", headers={"cookie": ui.cookie})
    assert reply.status == 403
    assert b"Capture the next 50" in ui.get("/ui/requests").body


def test_every_answer_tells_the_browser_to_be_careful(ui: Pages) -> None:
    for path in ("/ui/login", "/ui/requests", "/ui/vendors", "/ui/nothing", *(f"/ui/assets/{name}" for name in NAMES)):
        headers = ui.get(path).headers
        assert headers["content-security-policy"].startswith("default-src 'none'; script-src 'self';")
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert headers["cache-control"] == "no-store"


def test_assets_are_small_and_nothing_else_is_served(ui: Pages) -> None:
    sizes = [len(ui.get(f"/ui/assets/{name}").body) for name in NAMES]
    assert sum(sizes) < 200_000
    for name in ("../app.py", "..%2fapp.py", "style.css/x", "", "none.js"):
        assert ui.get(f"/ui/assets/{name}").status == 404


def test_a_session_is_a_strict_cookie_and_ends_with_the_logout(tmp_path: Path, ui: Pages) -> None:
    other = Pages(ui.root, ui.admin, ui.served)
    reply = other.log_in()
    assert reply.headers["set-cookie"].endswith("; Path=/ui; Max-Age=43200; HttpOnly; SameSite=Strict")
    assert other.get("/ui/requests").status == 200
    assert other.form("/ui/logout", {}).headers["location"] == "/ui/login"
    assert other.get("/ui/requests").headers["location"] == "/ui/login"
    assert ui.get("/ui/requests").status == 200  # the other session goes on


def test_a_wrong_key_is_answered_late_and_gives_no_session(ui: Pages) -> None:
    began = time.monotonic()
    reply = Pages(ui.root, ui.admin, ui.served).log_in("wrong")
    assert (reply.status, "set-cookie" in reply.headers) == (401, False)
    assert time.monotonic() - began > 0.9


def test_methods_and_paths_that_do_not_exist_are_refused(ui: Pages) -> None:
    for path in ("/ui/nothing", "/ui/requests/none", "/ui/requests/none/part/came", "/ui/keys/none/rotate"):
        assert ui.get(path).status == 404
    assert request("DELETE", ui.admin + "/ui/requests", None, key="", headers={"cookie": ui.cookie}).status == 405


def test_numbers_in_unusual_digits_are_no_internal_error(ui: Pages) -> None:
    """Of "²" Python says that it is a digit, and cannot make a number of it."""
    for number in ("²", "٣", "0", "-1", "99999", "1" * 40):
        assert ui.get(f"/ui/requests?{urlencode({'page': number})}").status == 200
        assert ui.form("/ui/requests/capture", {"requests": number}).status == 303
    assert ui.form("/ui/keys", {"name": "n", "rpm": "²"}).status == 400
    ui.form("/ui/requests/capture", {"requests": "0"})


def test_a_page_behind_the_last_one_is_the_last_one(ui: Pages) -> None:
    name = ui.ask().headers["x-request-id"]
    until(lambda: ui.rows(f"?id={name}"))
    assert [row["id"] for row in ui.rows(f"?id={name}&page=9999")] == [name]
    assert ui.get("/ui/").headers["location"] == "/ui/requests"


def test_the_list_tells_of_each_request_what_it_was(ui: Pages) -> None:
    row = ui.row(ui.ask("markers", stream=True))
    assert row["status"] == "200"
    assert row["worth"] == "repaired"
    assert "markers_parsed" in row["repairs"]
    assert "finish_reason" in row["repairs"]
    whole = ui.row(ui.ask())
    assert (whole["tokens"], whole["cost"], whole["who"]) == ("7 + 2", "$0.000011", "key1")
    assert (whole["model"], whole["target"], whole["problem"]) == ("m", "→ p", "")
    failed = ui.row(ui.ask("fail"))
    assert failed["status"] in ("502", "503", "529")
    assert failed["problem"].startswith("answered with status 529: overloaded")
    assert ui.row(ui.ask(model="p,m"))["target"] == ""
    unknown = ui.row(ui.ask(model="none"))
    assert (unknown["model"], unknown["target"], unknown["first"]) == ("none", "", "–")
    assert "does not exist" in unknown["problem"]


def test_filters_choose_among_the_requests(ui: Pages) -> None:
    clean, repaired = ui.ask(), ui.ask("markers")
    names = [reply.headers["x-request-id"] for reply in (clean, repaired)]
    until(lambda: {row["id"] for row in ui.rows()} >= set(names))

    def shown(query: str) -> list[bool]:
        ids = {row["id"] for row in ui.rows(query)}
        return [name in ids for name in names]

    assert shown("?worth=repaired") == [False, True]
    assert shown("?repair=markers_parsed") == [False, True]
    assert shown("?repair=any&front=chat&provider=p&model=m&status=ok&span=1h&key=key1") == [False, True]
    assert shown("?status=4xx") == [False, False]
    assert shown(f"?id={names[0]}") == [True, False]
    assert shown("?provider=nobody") == [False, False]
    assert ui.get("/ui/requests?page=0&status=%00&span=never").status == 200


def test_a_request_that_was_not_captured_shows_its_line_alone(ui: Pages) -> None:
    reply = ui.ask("hi, nobody reads this")
    ui.row(reply)
    text = ui.get(f"/ui/requests/{reply.headers['x-request-id']}").body.decode()
    assert "were not captured" in text
    assert "nobody reads this" not in text


def test_what_came_what_left_and_why_are_on_one_page(ui: Pages) -> None:
    ui.capture_next()
    text = ui.page(ui.ask("markers", stream=True))
    assert "&lt;|tool_calls_section_begin|&gt;" in text
    assert "markers_parsed" in text
    assert "<mark>" in text
    assert 'class="waterfall"' in text
    history = [
        {"role": "user", "content": "x"},
        {"role": "assistant", "content": "", "tool_calls": [
            {"id": "call_9", "type": "function", "function": {"name": "look", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "call_9", "content": "done"},
        {"role": "user", "content": "again"},
    ]  # fmt: skip
    text = ui.page(ui.ask(messages=history))
    assert "<mark>&quot;id&quot;: &quot;functions.look:0&quot;,</mark>" in text
    assert "history_id: &quot;call_9&quot; → &quot;functions.look:0&quot;" in text


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/messages"])
@pytest.mark.parametrize("stream", [False, True])
def test_capturing_changes_nothing_for_the_client(ui: Pages, path: str, stream: bool) -> None:
    ui.form("/ui/requests/capture", {"requests": "0"})
    before = ui.ask("markers", path=path, stream=stream)
    ui.capture_next()
    after = ui.ask("markers", path=path, stream=stream)
    ui.page(after)
    if path.endswith("completions"):
        assert after.body == before.body
    else:  # its ids are made anew
        assert len(after.body) == len(before.body)


def test_secrets_are_in_no_capture(ui: Pages) -> None:
    ui.capture_next()
    whole, streamed = ui.ask("secret"), ui.ask("secret", stream=True)
    assert len(WATCH.take()) == 2  # what a model says is the client's; what is shown of it here is not
    for reply in (whole, streamed, ui.ask("fail"), ui.ask(f"mine is {CLIENT_KEY}")):
        text = ui.page(reply)  # `get` fails the test if it finds one
        name = reply.headers["x-request-id"]
        assert "[secret]" in text
        for part in ("request", "sent", "came", "left", "curl"):
            body = ui.get(f"/ui/requests/{name}/part/{part}").body
            assert PROVIDER_KEY.encode() not in body
        ui.get(f"/ui/requests/{name}/case.json")


def test_hostile_text_stays_text(ui: Pages) -> None:
    ui.capture_next()
    for stream in (False, True):
        reply = ui.ask("hostile", stream=stream, user=HOSTILE)
        text = ui.page(reply)
        assert "<script>window" not in text
        assert "<img src=x" not in text
        assert "\u202e" not in text
        assert "\x1b" not in text
        part = ui.get(f"/ui/requests/{reply.headers['x-request-id']}/part/came")
        assert part.headers["content-type"] == "text/plain; charset=utf-8"


def test_a_line_of_ten_megabytes_makes_a_small_page(ui: Pages) -> None:
    ui.capture_next()
    text = ui.page(ui.ask("long line"))
    assert len(text) < 200_000
    assert "characters more" in text or "were not kept" in text


def test_a_test_case_is_read_by_replay(ui: Pages, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from moongate.cli import main

    ui.capture_next()
    reply = ui.ask("markers", stream=True)
    ui.page(reply)
    case = ui.get(f"/ui/requests/{reply.headers['x-request-id']}/case.json")
    assert case.json()["use"][0][0] == "Kimi"
    file = tmp_path / "x.case.json"
    file.write_bytes(case.body)
    assert main(["replay", str(file)]) == 0
    shown = capsys.readouterr().out
    assert "markers_parsed" in shown
    assert "1 calls" in shown or "1 call;" in shown


def test_keys_are_created_rotated_and_disabled(ui: Pages) -> None:
    made = ui.form("/ui/keys", {"name": "alice <b>", "rpm": "60", "budget": "2.5", "models": "m, x*", "expires": "30d"})
    text = made.body.decode()
    assert made.status == 200
    assert "The key of alice &lt;b&gt;" in text
    secret = text.partition('<section class="secret"')[2].partition("<code>")[2].partition("<")[0]
    until(lambda: ui.ask(key=secret).status == 200)
    assert secret not in ui.get("/ui/keys").body.decode()
    name = ui.get("/ui/keys").body.decode().partition("/ui/keys/")[2].partition("/")[0]
    rotated = ui.form(f"/ui/keys/{name}/rotate", {}).body.decode()
    assert "The key of alice" in rotated
    until(lambda: ui.ask(key=secret).status == 401)
    assert ui.form(f"/ui/keys/{name}/disable", {}).status == 303
    assert b"disabled" in ui.get("/ui/keys").body
    assert ui.form(f"/ui/keys/{name}/enable", {}).status == 303
    assert ui.form("/ui/keys", {"name": "bob", "rpm": "many"}).status == 400
    text = ui.get("/ui/keys").body.decode()
    assert ", 1 in the configuration<" in text
    assert 'data-confirm="Rotate the key of alice &lt;b&gt;?' in text
    assert 'data-confirm="Disable the key of alice &lt;b&gt;?' in text
    log = get(ui.admin + "/admin/v1/audit", key=ADMIN_KEY).json()["data"]
    assert {line["actor"] for line in log} == {"ui 127.0.0.1"}


def test_a_key_may_be_inspected_always(ui: Pages) -> None:
    ui.form("/ui/requests/capture", {"requests": "0"})
    made = ui.form("/ui/keys", {"name": "watched", "inspect": "yes"}).body.decode()
    secret = made.partition('<section class="secret"')[2].partition("<code>")[2].partition("<")[0]
    until(lambda: ui.ask(key=secret).status == 200)
    assert "Hello." in ui.page(ui.ask(key=secret))


def test_vendors_usage_and_configuration_are_shown(ui: Pages) -> None:
    ui.row(ui.ask("markers"))
    vendors = ui.get("/ui/vendors").body.decode()
    assert "repaired" in vendors
    assert "markers_parsed" in vendors
    until(lambda: "$0." in ui.get("/ui/usage?by=model").body.decode().partition("<tbody>")[2])
    for by in ("key", "team", "day", "provider", "front", "worth"):
        assert ui.get(f"/ui/usage?by={by}").status == 200
    assert "To cache" in ui.get("/ui/usage").body.decode()
    assert ui.get("/ui/usage?by=colour").status == 400
    assert ui.get("/ui/usage?from=2020-01-01").status == 400
    text = ui.get("/ui/configuration").body.decode()
    assert "chain: Kimi" in text
    assert ">answers<" in text


def test_the_stream_of_events_sends_rows_as_text(ui: Pages) -> None:
    import http.client

    connection = http.client.HTTPConnection(ui.admin.removeprefix("http://"), timeout=60)
    after = ui.get("/ui/requests").body.decode().partition('data-after="')[2].partition('"')[0]
    connection.request("GET", f"/ui/events?after={after}&worth=repaired", headers={"cookie": ui.cookie})
    response = connection.getresponse()
    assert response.headers["content-type"] == "text/event-stream"
    ui.ask()
    name = ui.ask("markers").headers["x-request-id"]
    got = b""
    while name.encode() not in got:
        got += response.read1()
    data = json.loads(next(line for line in got.split(b"\n") if line.startswith(b"data:"))[5:])
    assert [row["cells"]["worth"] for row in data["rows"]] == ["repaired"]
    assert data["choices"] == {
        "key": ["key1"], "provider": ["p"], "front": ["chat"], "worth": ["repaired"], "model": ["m"],
        "repair": ["finish_reason", "markers_parsed"],
    }  # fmt: skip
    connection.close()


def test_without_pages_nothing_is_there_and_nothing_is_kept(tmp_path: Path) -> None:
    with pages(tmp_path, admin={"port": 0, "key": ADMIN_KEY, "ui": False}) as ui:
        assert get(ui.admin + "/ui/requests", key=ADMIN_KEY).status == 404
        assert ui.ask().status == 200
