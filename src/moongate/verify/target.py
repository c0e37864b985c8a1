"""What is verified: a model at an address, with the chain that repairs its answers."""

from __future__ import annotations

from dataclasses import dataclass

from moongate.gateway.config.endpoint import Endpoint, resolve_endpoint
from moongate.gateway.config.jsonc import ConfigDocument
from moongate.gateway.config.load import Config
from moongate.gateway.config.places import ConfigPlace
from moongate.gateway.config.sources import Source
from moongate.gateway.state import known_prices
from moongate.pipeline.chain import Chain
from moongate.prices.price import TokenPrices
from moongate.prices.price_rows import find_price


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
    ca_file: str | None = None
    proxy: str | None = None


def configured_targets(config: Config) -> list[VerifyTarget]:
    """Every model of every provider, with its first key."""
    return [_configured(config, source, model.name) for source in config.sources for model in source.models]


def _configured(config: Config, source: Source, model: str) -> VerifyTarget:
    settings = source.settings
    declared = next(each for each in source.models if each.name == model)
    return VerifyTarget(
        f"{source.name},{model}",
        model,
        settings.api_base_url,
        source.endpoint,
        source.keys[0].key if source.keys else "",
        config.transformers.chain(source.chains[model], model, settings.api_base_url),
        tuple(source.headers.items()),
        known_prices(settings.api_base_url, declared),
        settings.ca_file or None,
        settings.proxy or None,
    )


def addressed_target(base_url: str, model: str, key: str, chain: Chain) -> VerifyTarget:
    """A model at an address that is in no configuration. Raises ConfigError for what is no URL."""
    endpoint = resolve_endpoint(base_url, ConfigPlace(ConfigDocument("--base-url", base_url, {})))
    row = find_price(base_url, model)
    name = f"{endpoint.host},{model}"
    return VerifyTarget(name, model, base_url, endpoint, key, chain, prices=row.prices if row else None)
