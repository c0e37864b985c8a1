"""Transformers by the names that configurations use."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Final, Protocol

from moongate.chat.contracts import Transformer
from moongate.errors import ConfigError
from moongate.kimi.transformer import KimiTransformer, PlainKimiTransformer
from moongate.pipeline.chain import Chain
from moongate.transformers.table import GENERIC, GenericRow, cautions, generic_name

Use = str | tuple[str, Mapping[str, Any]] | list[Any]


class Factory(Protocol):
    """Builds a transformer for a model at a host. `path` is where its options stand in the configuration."""

    def __call__(self, options: Mapping[str, Any] | None, *, model: str, base_url: str, path: str) -> Transformer: ...


def _generic(row: GenericRow) -> Factory:
    def build(options: Mapping[str, Any] | None, *, model: str, base_url: str, path: str) -> Transformer:
        del model, base_url  # these are the same for every model
        return row.build(options, path)

    return build


KIMI: Final = "Kimi"
TRANSFORMERS: Final[Mapping[str, Factory]] = {
    KIMI: KimiTransformer.from_config,
    **{name: _generic(row) for name, row in GENERIC.items()},
}
# The same without shortcuts, for `MOONGATE_FAST=0`.
PLAIN_TRANSFORMERS: Final[Mapping[str, Factory]] = {**TRANSFORMERS, KIMI: PlainKimiTransformer.from_config}


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
        given, options = _parsed(entry, f"{path}[{at}]")
        name = known_name(given, known)
        if name is None:
            raise ConfigError(unknown_name(given, known), path=f"{path}[{at}]")
        place = f"{path}[{at}]" if isinstance(entry, str) else f"{path}[{at}][1]"
        built.append(known[name](options, model=model, base_url=base_url, path=place))
    return Chain(built)


def known_name(name: str, known: Collection[str]) -> str | None:
    """A name as it is known: as it is, or for a generic transformer in any case, with or without `Transformer`."""
    if name in known:
        return name
    generic = generic_name(name)
    return generic if generic is not None and generic in known else None


def disturbances(chain: Sequence[str]) -> list[tuple[str, str]]:
    """Which transformers of a chain (by name) disturb Kimi's, and why: use with caution."""
    return cautions(chain, list(chain).index(KIMI)) if KIMI in chain else []


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
