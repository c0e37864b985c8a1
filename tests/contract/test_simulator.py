"""The contract, straight at the simulator. It plays the strict reading: a named `tool_choice` is refused."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.contract.cases import ASKED, ContractCase
from tests.contract.clients import CLIENTS, ContractClient, case_ids
from tests.support.background import Background

from moongate import sim


@pytest.fixture(scope="module")
def simulator() -> Iterator[ContractClient]:
    with Background() as background:
        running = background.start(sim.start())
        with ContractClient(running.url.replace("/v1", "/moonshot-walls-named-refused/v1")) as client:
            yield client


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize(
    ("case", "stream"), [(case, stream) for case in ASKED for stream in case.streams], ids=case_ids
)
def test_the_simulator_keeps_the_contract(
    simulator: ContractClient, case: ContractCase, stream: bool, client: str
) -> None:
    assert simulator.faults(case, client, stream=stream) == [], case.note
