"""204 schemas, whole and streamed: the arguments of the forced call must fit the schema as it was sent."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from tests.contract.cases import CASES, ContractCase, JsonObject
from tests.contract.clients import case_ids
from tests.contract.readers import arguments_of, from_chunks, from_document, sse_chunks
from tests.contract.schema_cases import TOOL, request_for, schemas, why_not_sent
from tests.support.background import Background
from tests.support.gateway import run_gateway
from tests.support.http import post
from tests.support.json_schema import misfit

from moongate import sim

SCHEMAS = schemas()
WRAPPED = [case for case in CASES if case.area == "schema_wrap"]


@pytest.fixture(scope="module")
def addresses() -> Iterator[dict[str, tuple[str, str]]]:
    """Base address and key of the simulator and of the gateway before it."""
    with Background() as background:
        simulator = background.start(sim.start())
        base = simulator.url.replace("/v1", "/moonshot-walls/v1")
        use = [["Kimi", {"host": "moonshot"}]]
        provider = {"name": "sim", "api_base_url": base, "models": ["kimi-k3"], "transformer": {"use": use}}
        with run_gateway({"providers": [provider]}) as gateway:
            yield {"simulator": (base, ""), "gateway": (f"{gateway.root}/v1", gateway.key)}


def test_there_are_as_many_schemas_as_in_the_suite() -> None:
    assert len({json.dumps(schema, sort_keys=True) for _, schema in SCHEMAS}) == 204
    assert [about for about, schema in SCHEMAS if why_not_sent(schema)] == []


@pytest.mark.parametrize("case", WRAPPED, ids=case_ids)
def test_schemas_are_wrapped_as_in_the_suite(case: ContractCase) -> None:
    assert case.schema is not None
    if "not_sent" in case.expect:
        assert why_not_sent(case.schema) == case.expect["not_sent"]
    else:
        assert why_not_sent(case.schema) is None
        assert request_for(case.schema) == case.request


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize(("about", "schema"), SCHEMAS, ids=lambda value: value if isinstance(value, str) else "")
@pytest.mark.parametrize("target", ["simulator", "gateway"])
def test_arguments_fit_the_schema_as_sent(
    addresses: dict[str, tuple[str, str]], target: str, about: str, schema: JsonObject, stream: bool
) -> None:
    base, key = addresses[target]
    body = request_for(schema)
    reply = post(f"{base}/chat/completions", body | ({"stream": True} if stream else {}), key=key)
    assert reply.status == 200, reply.body
    answer = from_chunks(sse_chunks(reply.body), add_names=True) if stream else from_document(reply.json())
    arguments = arguments_of(answer, TOOL)
    assert arguments is not None, about
    assert misfit(body["tools"][0]["function"]["parameters"], json.loads(arguments)) is None
