"""The configuration made from another server's file, and what the importers share."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from moongate.cli.init import EverySet
from moongate.errors import ConfigError
from moongate.gateway.config.load import parse_config
from moongate.payload import JsonObject, dumps_text

AGENT: Final = ["Kimi", {"preset": "agent"}]


@dataclass
class Imported:
    """What was made of a file, and a line for each part of it."""

    config: JsonObject = field(default_factory=dict)
    taken: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)

    def set_key(self, key: object, name: str) -> None:
        """The key that clients send, if there is one."""
        if isinstance(key, str) and key:
            self.config["api_keys"] = [key]
            self.taken.append(f"{name}: the key that clients send")

    def add_fallbacks(self, target: str, others: list[str]) -> None:
        """What answers in the place of a model, behind those that it has already."""
        name, _, model = target.partition(",")
        models = next(each["models"] for each in self.config["providers"] if each["name"] == name)
        for at, each in enumerate(models):
            written = {"name": each} if isinstance(each, str) else each
            if written["name"] == model and others:
                models[at] = {**written, "fallback": list(dict.fromkeys([*written.get("fallback", ()), *others]))}

    def leave_others(self, given: JsonObject, known: set[str], at: str = "") -> None:
        """A line for each member that nothing here stands for."""
        self.left += [f"{at}{name}: no counterpart in moongate" for name in given if name not in known]


def clean_name(name: str) -> str:
    """As a name of a provider may be written here."""
    return "".join("-" if char in ",/" or char.isspace() else char for char in name)


def is_kimi(model: str) -> bool:
    return "kimi" in model.lower()


def object_or_empty(value: Any) -> JsonObject:
    return value if isinstance(value, dict) else {}


def text_of(value: Any) -> str:
    """A text, "" for anything else."""
    return value.strip() if isinstance(value, str) else ""


def problem_of(provider: JsonObject) -> str:
    """Why this provider cannot be served, "" if it can."""
    try:
        parse_config(dumps_text({"providers": [provider]}), "", Path.cwd(), EverySet())
    except ConfigError as error:
        return str(error).removeprefix(":1: ").removeprefix("providers[0].")
    return ""
