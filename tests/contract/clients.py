"""Two ways to ask, as in the suite: a plain HTTP client and the openai SDK."""

from __future__ import annotations

import json
from typing import Final

import openai
from tests.contract.cases import Assembled, ContractCase, JsonObject
from tests.contract.judgement import faults
from tests.contract.readers import from_chunks, from_document, sdk_faults, sse_chunks
from tests.support.http import post

CLIENTS: Final = ("raw", "sdk")


class ContractClient:
    """Asks one server in either way. A context manager."""

    def __init__(self, base: str, key: str = "none", provider: str = "") -> None:
        """`provider`: of a gateway; it is named before the model."""
        self._base = base
        self._key = key
        self._prefix = f"{provider}," if provider else ""
        self._sdk = openai.OpenAI(base_url=base, api_key=key, max_retries=0)

    def __enter__(self) -> ContractClient:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()

    def close(self) -> None:
        self._sdk.close()

    def ask(self, client: str, body: JsonObject) -> Assembled:
        body = {**body, "model": self._prefix + body["model"]}
        return self._raw(body) if client == "raw" else self._by_sdk(body)

    def _raw(self, body: JsonObject) -> Assembled:
        reply = post(f"{self._base}/chat/completions", body, key=self._key)
        if reply.status != 200:
            return Assembled(reply.status, error=reply.body.decode())
        if reply.headers["content-type"].startswith("text/event-stream"):
            return from_chunks(sse_chunks(reply.body))
        return from_document(json.loads(reply.body))

    def _by_sdk(self, body: JsonObject) -> Assembled:
        """The same through the SDK. Raises AssertionError for an answer that the suite's SDK reader refuses."""
        known = ("model", "messages", "stream", "stream_options")
        rest = {name: value for name, value in body.items() if name not in known}
        arguments = {name: value for name, value in body.items() if name in known}
        try:
            answer = self._sdk.chat.completions.create(**arguments, extra_body=rest)
            if not body.get("stream"):
                return _checked(from_document(answer.model_dump(exclude_unset=True)))
            return _checked(from_chunks([chunk.model_dump(exclude_unset=True) for chunk in answer]))
        except openai.APIStatusError as error:
            return Assembled(error.status_code, error=str(error))

    def faults(self, case: ContractCase, client: str, *, stream: bool) -> list[str]:
        """Asks a row, and the rows that it is compared with, and tells what does not hold."""

        def ask(row: ContractCase) -> Assembled:
            return self.ask(client, row.body(stream=stream))

        return faults(case, ask(case), ask)


def _checked(answer: Assembled) -> Assembled:
    assert sdk_faults(answer) == []
    return answer


def case_ids(value: object) -> str:
    """Names of tests for parameters that are rows and booleans."""
    return value.id if isinstance(value, ContractCase) else "streamed" if value else "whole"
