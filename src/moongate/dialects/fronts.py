"""The fronts: one row per API that clients may speak. A new front is one package and one row here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

from moongate.chat.contracts import Dialect
from moongate.dialects.anthropic_messages import MESSAGES
from moongate.dialects.openai_chat import CHAT, model_list
from moongate.dialects.openai_responses import RESPONSES
from moongate.payload import JsonObject

__all__ = ["CHAT", "DIALECTS", "FRONTS", "MESSAGES", "RESPONSES", "Front"]

ModelList = Callable[[Sequence[tuple[str, str]]], JsonObject]


class Front(NamedTuple):
    """Where a front is served, and what else its clients ask for."""

    path: str
    dialect: Dialect
    client_header: bytes = b""  # lower case; sent by clients of this front alone, also on paths that fronts share
    models: ModelList = model_list  # (name, provider) of each model → the answer of `GET /v1/models`
    pages: Mapping[str, Callable[[JsonObject], JsonObject]] = {}  # further POST paths: request → answer


def _anthropic_models(models: Sequence[tuple[str, str]]) -> JsonObject:
    return MESSAGES.models([name for name, _ in models])


# The first row is the default: pages and errors that belong to no front take its form.
FRONTS: Final = (
    Front("/v1/chat/completions", CHAT),
    Front(
        "/v1/messages",
        MESSAGES,
        client_header=b"anthropic-version",
        models=_anthropic_models,
        pages={"/v1/messages/count_tokens": MESSAGES.count_tokens},
    ),
    Front("/v1/responses", RESPONSES),
)
DIALECTS: Final[Mapping[str, Dialect]] = {front.path: front.dialect for front in FRONTS}
