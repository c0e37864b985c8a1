"""Transformers by the names that configurations use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Final, Protocol

from moongate.chat.contracts import Transformer
from moongate.errors import ConfigError
from moongate.kimi.transformer import KimiTransformer, PlainKimiTransformer
from moongate.pipeline.chain import Chain

Use = str | tuple[str, Mapping[str, Any]] | list[Any]


class Factory(Protocol):
    """Builds a transformer for a model at a host. `path` is where its options stand in the configuration."""

    def __call__(self, options: Mapping[str, Any] | None, *, model: str, base_url: str, path: str) -> Transformer: ...


TRANSFORMERS: Final[Mapping[str, Factory]] = {"Kimi": KimiTransformer.from_config}
# The same without shortcuts, for `MOONGATE_FAST=0`.
PLAIN_TRANSFORMERS: Final[Mapping[str, Factory]] = {**TRANSFORMERS, "Kimi": PlainKimiTransformer.from_config}


def build_chain(
    use: Sequence[Use],
    *,
    model: str,
    base_url: str = "",
    path: str = "transformer.use",
    known: Mapping[str, Factory] = TRANSFORMERS,
) -> Chain:
    """The chain that a configuration names: `["Kimi"]`, or with options `[["Kimi", {"preset": "agent"}]]`.

    Raises ConfigError with the path, and with the nearest name for one that is not known.

    >>> build_chain(["kimi"], model="kimi-k2")
    Traceback (most recent call last):
    moongate.errors.ConfigError: transformer.use[0]: unknown transformer 'kimi', did you mean 'Kimi'?
    """
    built: list[Transformer] = []
    for at, entry in enumerate(use):
        name, options = _parsed(entry, f"{path}[{at}]")
        if name not in known:
            raise ConfigError(unknown_name(name, known), path=f"{path}[{at}]")
        place = f"{path}[{at}]" if isinstance(entry, str) else f"{path}[{at}][1]"
        built.append(known[name](options, model=model, base_url=base_url, path=place))
    return Chain(built)


def unknown_name(name: str, known: Mapping[str, Factory]) -> str:
    """The error message for an unknown name, with the nearest known one."""
    by_case = {each.lower(): each for each in known}
    near = get_close_matches(name.lower(), by_case, n=1, cutoff=0.5)
    if near:
        return f"unknown transformer {name!r}, did you mean {by_case[near[0]]!r}?"
    return f"unknown transformer {name!r}; known are {', '.join(sorted(known))}"


def _parsed(entry: Use, path: str) -> tuple[str, Mapping[str, Any]]:
    if isinstance(entry, str):
        return entry, {}
    if isinstance(entry, list | tuple) and len(entry) in (1, 2) and isinstance(entry[0], str):
        options = entry[1] if len(entry) == 2 else {}
        if isinstance(options, Mapping):
            return entry[0], options
    raise ConfigError("must be a transformer's name, or a list of its name and its options", path=path)
