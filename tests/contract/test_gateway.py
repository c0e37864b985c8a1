"""The contract, through the gateway in front of the simulator, with the Kimi transformer in the chain.

Two providers: one that the gateway knows for Moonshot, and the same under a foreign address. What a repairing gateway
mends by design (`mended`) is answered, not refused; with the rules off it is refused as well.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.contract.cases import ASKED, ContractCase
from tests.contract.clients import CLIENTS, ContractClient, case_ids
from tests.support.background import Background
from tests.support.gateway import run_gateway

from moongate import sim

RULES_OFF = {"parameterRules": "off", "schemaRules": "off", "learnFromRefusals": False, "host": "moonshot"}
CHAINS = {
    "moonshot": [["Kimi", {"host": "moonshot"}]],
    "foreign": ["Kimi"],
    "rules-off": [["Kimi", RULES_OFF]],
}


@pytest.fixture(scope="module")
def gateways() -> Iterator[dict[str, ContractClient]]:
    with Background() as background:
        simulator = background.start(sim.start())
        address = simulator.url.replace("/v1", "/moonshot-walls-named-refused/v1")
        clients = {}
        providers = [
            {"name": name, "api_base_url": address, "models": ["kimi-k3"], "transformer": {"use": chain}}
            for name, chain in CHAINS.items()
        ]
        with run_gateway({"providers": providers}) as gateway:
            try:
                for name in CHAINS:
                    clients[name] = ContractClient(f"{gateway.root}/v1", gateway.key, provider=name)
                yield clients
            finally:
                for client in clients.values():
                    client.close()


def rows(*, mended: bool) -> list[object]:
    """Each row with each way to stream it."""
    return [pytest.param(case, stream) for case in ASKED if case.mended == mended for stream in case.streams]


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize(("case", "stream"), rows(mended=False), ids=case_ids)
def test_the_gateway_keeps_the_contract(
    gateways: dict[str, ContractClient], case: ContractCase, stream: bool, client: str
) -> None:
    assert gateways["moonshot"].faults(case, client, stream=stream) == [], case.note


@pytest.mark.parametrize(("case", "stream"), rows(mended=False), ids=case_ids)
def test_the_gateway_keeps_the_contract_under_a_foreign_address(
    gateways: dict[str, ContractClient], case: ContractCase, stream: bool
) -> None:
    assert gateways["foreign"].faults(case, "raw", stream=stream) == [], case.note


@pytest.mark.parametrize(("case", "stream"), rows(mended=True), ids=case_ids)
def test_what_is_mended_by_design_is_answered(
    gateways: dict[str, ContractClient], case: ContractCase, stream: bool
) -> None:
    assert gateways["moonshot"].ask("raw", case.body(stream=stream)).status == 200


@pytest.mark.parametrize(("case", "stream"), rows(mended=True), ids=case_ids)
def test_with_the_rules_off_nothing_is_mended(
    gateways: dict[str, ContractClient], case: ContractCase, stream: bool
) -> None:
    assert gateways["rules-off"].faults(case, "raw", stream=stream) == [], case.note
