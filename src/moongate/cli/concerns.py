"""What a configuration may say, but deserves a second look."""

from __future__ import annotations

from moongate.gateway.config.load import Config, is_loopback
from moongate.gateway.transformers import PLACEHOLDER


def concerns(config: Config) -> list[str]:
    """One line each."""
    found = []
    if config.client_keys is None:
        found.append('"api_keys": "none": every program on this machine can use your providers')
    for source in config.sources:
        if source.endpoint.scheme == "http" and source.keys and not is_loopback(source.endpoint.host):
            found.append(f"{source.name}: the key travels unencrypted to {source.endpoint.origin}")
        for model, steps in source.chains.items():
            if PLACEHOLDER in {step.name for step in steps} - set(config.transformers.custom):
                found.append(f"{source.name},{model}: {PLACEHOLDER} is a placeholder and does nothing")
    return found
