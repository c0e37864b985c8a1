"""Warnings about configurations that are valid but probably not what their owner wants."""

from __future__ import annotations

from moongate.cli.file_warnings import file_warnings
from moongate.gateway.config.load import Config, is_loopback
from moongate.gateway.config.sources import Source
from moongate.gateway.transformers import PLACEHOLDER
from moongate.kimi.transformer import KimiTransformer
from moongate.pipeline.registry import disturbances


def config_warnings(config: Config) -> list[str]:
    """One line per warning."""
    found = []
    if config.client_keys is None:
        found.append('"api_keys": "none": every program on this machine can use your providers')
    for source in config.sources:
        for endpoint in source.endpoints:
            if endpoint.scheme == "http" and source.keys and not is_loopback(endpoint.host):
                found.append(f"{source.name}: the key travels unencrypted to {endpoint.origin}")
        for model, steps in source.chains.items():
            kimi = _kimi(config, source, model)
            if kimi is not None and kimi.options.guard != "off" and source.settings.dialect != "chat":
                found.append(f"{source.name},{model}: the guard works on chat completions: here no call is checked")
            if "kimi" in model.lower() and kimi is None:
                found.append(
                    f"{source.name},{model}: a Kimi model without Kimi in its chain, so nothing is repaired: "
                    'add "transformer": {"use": [["Kimi", {"preset": "agent"}]]} to its provider'
                )
            if PLACEHOLDER in {step.name for step in steps} - set(config.transformers.custom):
                found.append(f"{source.name},{model}: {PLACEHOLDER} is a placeholder and does nothing")
            for name, why in disturbances([step.name for step in steps]):
                if name not in config.transformers.custom:
                    found.append(f"{source.name},{model}: use {name} beside Kimi with caution: {why}")
    return [*found, *file_warnings(config)]


def _kimi(config: Config, source: Source, model: str) -> KimiTransformer | None:
    """Kimi's transformer in the chain of a model."""
    chain = config.transformers.chain(source.chains[model], model, source.settings.base_url)
    return next((each for each in chain.transformers if isinstance(each, KimiTransformer)), None)
