"""Configuration objects in camelCase, read into dataclass fields in snake_case."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from difflib import get_close_matches
from typing import TYPE_CHECKING

from moongate.errors import ConfigError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


def option_name(field_name: str) -> str:
    """repair_on_mismatch → repairOnMismatch"""
    head, *rest = field_name.split("_")
    return head + "".join(word.capitalize() for word in rest)


def option_path(path: str, field_name: str) -> str:
    """The path of this field's option in the configuration."""
    return f"{path}.{option_name(field_name)}" if path else option_name(field_name)


def read_fields(owner: type[DataclassInstance], config: object, path: str) -> dict[str, object]:
    """The entries of `config` under the names of `owner`'s fields. Raises ConfigError for an unknown entry."""
    if not isinstance(config, Mapping):
        raise ConfigError("must be an object", path=path)
    names = {option_name(each.name): each.name for each in fields(owner)}
    for key in config:
        if key not in names:
            near = get_close_matches(str(key), names, n=1, cutoff=0.0)[0]
            raise ConfigError(
                f"unknown option {key!r}, did you mean {near!r}?", path=f"{path}.{key}" if path else f"{key}"
            )
    return {names[key]: value for key, value in config.items()}
