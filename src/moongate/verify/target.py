"""What is verified: a model at an address, with the chain that repairs its answers."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Final

from moongate.errors import ConfigError
from moongate.gateway.config.endpoint import Endpoint, resolve_endpoint
from moongate.gateway.config.jsonc import ConfigDocument
from moongate.gateway.config.load import Config
from moongate.gateway.config.places import ConfigPlace
from moongate.gateway.config.proxy import environment_proxy
from moongate.gateway.config.sources import Source
from moongate.gateway.target_factory import FRONT_OF, known_prices
from moongate.net.dial import Origin
from moongate.pipeline.chain import Chain
from moongate.prices.price import TokenPrices
from moongate.prices.price_rows import find_price

CHAT: Final = "chat"  # the front, and the dialect, of chat completions


@dataclass(frozen=True, slots=True)
class VerifyTarget:
    """A model of a vendor. `key` may be empty; it is in no output."""

    name: str
    model: str
    base_url: str
    endpoint: Endpoint
    key: str
    chain: Chain
    headers: tuple[tuple[str, str], ...] = ()  # beside the key and the content type
    prices: TokenPrices | None = None
    origin: Origin | None = None  # None: that of the endpoint, asked directly
    further_keys: tuple[str, ...] = ()  # that the gateway takes turns with
    front: str = CHAT  # whose API the vendor speaks


def configured_targets(config: Config) -> list[VerifyTarget]:
    """Every model of every provider, with its first key."""
    return [_configured(config, source, model.name) for source in config.sources for model in source.models]


def configured_target(config: Config, provider: str, model: str) -> VerifyTarget:
    """This model of this provider. Raises ConfigError if it cannot be asked."""
    source = next(each for each in config.sources if each.name == provider)
    if source.settings.dialect != CHAT:
        name, dialect = f"{provider},{model}", source.settings.dialect
        raise ConfigError(f"its provider speaks {dialect}: only chat completions can be verified", path=name)
    return _configured(config, source, model)


def _configured(config: Config, source: Source, model: str) -> VerifyTarget:
    settings = source.settings
    declared = next(each for each in source.models if each.name == model)
    return VerifyTarget(
        f"{source.name},{model}",
        model,
        settings.base_url,
        source.endpoint,
        source.keys[0].key if source.keys else "",
        config.transformers.chain(source.chains[model], model, settings.base_url),
        tuple(source.headers.items()),
        known_prices(settings.base_url, declared),
        source.origins[0],
        tuple(each.key for each in source.keys[1:]),
        FRONT_OF[settings.dialect],
    )


def addressed_target(base_url: str, model: str, key: str, chain: Chain) -> VerifyTarget:
    """A model at an address that is in no configuration. Raises ConfigError for what is no URL."""
    endpoint = resolve_endpoint(base_url, ConfigPlace(ConfigDocument("--base-url", base_url, {})))
    origin = Origin.parse(endpoint.origin, proxy=environment_proxy(endpoint, os.environ) or None)
    row = find_price(base_url, model)
    name = f"{endpoint.host},{model}"
    return VerifyTarget(name, model, base_url, endpoint, key, chain, prices=row.prices if row else None, origin=origin)
