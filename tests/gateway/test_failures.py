"""The simulator's misbehaviours that cannot be repaired: an honest error on every front, never a success."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from tests.support.background import Background
from tests.support.front import Front
from tests.support.fronts import FRONTS
from tests.support.gateway import RunningGateway, run_gateway
from tests.support.http import Reply, post

from moongate import sim
from moongate.sim import model_name

BROKEN = ("broken", "broken-chunk", "stalled", "error-mid")
REFUSED = {"429": 429, "quota": 429, "500": 500}


@dataclass(frozen=True, slots=True)
class Pair:
    """The hasty gateway is asked only for what ends no other way: nothing depends on the machine's speed."""

    patient: RunningGateway
    hasty: RunningGateway

    def post(self, front: Front, row: str, *, stream: bool) -> Reply:
        gateway = self.hasty if row == "stalled" else self.patient
        body = front.request(model_name("k2.5", row), front.user("hi"), (), stream=stream)
        return post(gateway.root + front.path, body, key=gateway.key)


@pytest.fixture(scope="module")
def gateways() -> Iterator[Pair]:
    with Background() as background:
        simulator = background.start(sim.start())
        models = [model_name("k2.5", row) for row in (*BROKEN, *REFUSED)]
        use = {"use": [["Kimi", {"preset": "agent"}]]}
        provider = {"name": "sim", "api_base_url": simulator.url, "models": models, "transformer": use}
        config = {"providers": [provider], "retries": {"backoff": 0, "obey": 0}}
        with run_gateway(config) as patient, run_gateway(config | {"timeouts": {"silence": 0.3}}) as hasty:
            yield Pair(patient, hasty)


def _ids(front: Front) -> str:
    return front.name


@pytest.mark.parametrize("front", FRONTS, ids=_ids)
@pytest.mark.parametrize("row", BROKEN)
def test_a_stream_that_breaks_ends_with_one_error(gateways: Pair, row: str, front: Front) -> None:
    reply = gateways.post(front, row, stream=True)
    assert not reply.cut
    if reply.status != 200:  # it broke before status 200 was committed
        assert (reply.status, row) in {(502, "broken"), (502, "broken-chunk"), (500, "error-mid"), (504, "stalled")}
        return
    answer = front.read(reply.body, stream=True)
    assert answer.error is not None
    assert not answer.ended
    assert not answer.late
    assert answer.finish in (None, "failed")


@pytest.mark.parametrize("front", FRONTS, ids=_ids)
@pytest.mark.parametrize(
    ("row", "status"), [("broken", 502), ("broken-chunk", 502), ("stalled", 504), ("error-mid", 500)]
)
def test_a_whole_answer_that_breaks_is_an_error(gateways: Pair, row: str, status: int, front: Front) -> None:
    reply = gateways.post(front, row, stream=False)
    assert reply.status == status
    assert reply.json()["error"]["message"]


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize("front", FRONTS, ids=_ids)
@pytest.mark.parametrize(("row", "status"), REFUSED.items())
def test_a_refusal_keeps_its_status_and_its_message(
    gateways: Pair, row: str, status: int, front: Front, stream: bool
) -> None:
    reply = gateways.post(front, row, stream=stream)
    assert reply.status == status
    words = {"429": "max RPM", "quota": "quota", "500": "had an error"}[row]
    assert words in reply.json()["error"]["message"]
