"""A callback for LiteLLM's proxy: `callbacks: ["moongate.litellm.kimi"]` in its `litellm_settings`.

Requests to models whose name has "kimi" in it are rewritten when their deployment is known, whole and streamed chat
answers are repaired before they leave. What LiteLLM's own client cannot read (NDJSON, a document where a stream was
asked for) never gets here, and nothing is asked again: that takes the gateway or `moongate.httpx`.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import AsyncGenerator, Iterable, Mapping
from typing import Any, Final

from litellm.exceptions import BadRequestError
from litellm.integrations.custom_logger import CustomLogger
from litellm.types.utils import ModelResponse, ModelResponseStream

from moongate import KimiTransformer
from moongate.chat.contracts import Exchange
from moongate.chat.items import Chunk, Done, Item
from moongate.errors import BadRequest

MAX_CALLS: Final = 4096  # calls whose answer is awaited; then the oldest is forgotten and leaves as it is
MAX_TRANSFORMERS: Final = 256
_CHAT_CALLS: Final = ("completion", "acompletion")
# What a chat request consists of; other arguments are LiteLLM's own.
_FIELDS: Final = (
    *("messages", "tools", "tool_choice", "stream", "stream_options", "temperature", "top_p", "n", "seed", "stop"),
    *("presence_penalty", "frequency_penalty", "max_tokens", "max_completion_tokens", "response_format"),
    *("reasoning_effort", "thinking", "parallel_tool_calls", "logprobs", "top_logprobs", "user"),
)


class KimiHook(CustomLogger):  # type: ignore[misc]
    """One for the whole proxy. `options` are Kimi's options."""

    def __init__(self, options: Mapping[str, Any] | None = None) -> None:
        super().__init__()
        self._options = {"preset": "agent"} if options is None else dict(options)
        KimiTransformer.from_config(self._options, model="")  # raises ConfigError now
        self._transformers: dict[tuple[str, str], KimiTransformer] = {}
        self._calls: OrderedDict[str, Exchange] = OrderedDict()

    async def async_pre_call_deployment_hook(self, kwargs: dict[str, Any], call_type: Any) -> dict[str, Any] | None:
        model = str(kwargs.get("model", ""))
        if getattr(call_type, "value", call_type) not in _CHAT_CALLS or "kimi" not in model.lower():
            return None
        given = {name: kwargs[name] for name in _FIELDS if kwargs.get(name) is not None}
        transformer = self._transformer(model, str(kwargs.get("api_base") or ""))
        try:
            exchange = transformer.begin({**given, "model": model})
        except BadRequest as error:  # anything else would be a fault of the deployment, which LiteLLM then avoids
            raise BadRequestError(str(error), model=model, llm_provider="moongate") from error
        self._remember(str(kwargs.get("litellm_call_id", "")), exchange)
        rest = {name: value for name, value in kwargs.items() if name not in given}
        return {**rest, **exchange.request, "model": kwargs["model"]}

    async def async_post_call_success_hook(self, data: dict[str, Any], user_api_key_dict: Any, response: Any) -> Any:
        exchange = self._calls.pop(str(data.get("litellm_call_id", "")), None)
        if exchange is None or not isinstance(response, ModelResponse):
            return response
        body = response.model_dump(exclude_none=True)
        reply = exchange.reply(body)
        if reply is body:
            return response
        repaired = ModelResponse(**reply)
        repaired._hidden_params = response._hidden_params
        return repaired

    async def async_post_call_streaming_iterator_hook(
        self, user_api_key_dict: Any, response: Any, request_data: dict[str, Any]
    ) -> AsyncGenerator[Any, None]:
        exchange = self._calls.pop(str(request_data.get("litellm_call_id", "")), None)
        last: Any = None
        async for part in response:
            if exchange is None or not isinstance(part, ModelResponseStream):
                yield part
                continue
            last = part
            for repaired in _chunks(exchange.feed(Chunk(part.model_dump(exclude_none=True))), part):
                yield repaired
        if exchange is not None and last is not None:
            for repaired in _chunks([*exchange.feed(Done()), *exchange.close()], last):
                yield repaired

    def _transformer(self, model: str, base_url: str) -> KimiTransformer:
        found = self._transformers.get((model, base_url))
        if found is None:
            if len(self._transformers) >= MAX_TRANSFORMERS:
                self._transformers.clear()
            found = KimiTransformer.from_config(self._options, model=model, base_url=base_url)
            self._transformers[model, base_url] = found
        return found

    def _remember(self, call_id: str, exchange: Exchange) -> None:
        self._calls.pop(call_id, None)  # another deployment was tried first
        while len(self._calls) >= MAX_CALLS:
            self._calls.popitem(last=False)
        self._calls[call_id] = exchange


def _chunks(items: Iterable[Item], like: Any) -> list[Any]:
    """The chunks among these items as LiteLLM's own."""
    return [_chunk(item, like) for item in items if isinstance(item, Chunk)]


def _chunk(item: Chunk, like: Any) -> Any:
    made = ModelResponseStream(**{"id": like.id, "model": like.model, "created": like.created, **item.payload})
    made._hidden_params = getattr(like, "_hidden_params", {})
    return made


kimi: Final = KimiHook()
