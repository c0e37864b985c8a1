"""Recognises the configurations of other servers, to name the command that imports them."""

from __future__ import annotations

import re
from typing import Final

from moongate.errors import ConfigError
from moongate.gateway.config.places import ConfigPlace
from moongate.payload import JsonObject

_MODEL_LIST: Final = re.compile(r"^model_list[ \t]*:", re.MULTILINE)
_PROVIDERS: Final = re.compile(r"^[ \t{]*'?Providers'?[ \t]*:", re.MULTILINE)  # as JSON5 has it, without double quotes


def check_text(text: str, file: str) -> None:
    """YAML and JSON5 are not parsed here: their files are known by their main member."""
    if not text.lstrip().startswith(("{", "[")) and _MODEL_LIST.search(text):
        raise ConfigError(_is("LiteLLM", "litellm", file), path=file)
    if _PROVIDERS.search(text):
        raise ConfigError(_is("claude-code-router", "ccr", file), path=file)


def check_value(value: JsonObject, at: ConfigPlace) -> None:
    """Raises ConfigError for a file of another server."""
    file = at.document.file
    if "Providers" in value or "Router" in value:
        imported = _is("claude-code-router", "ccr", file)
        if "Router" in value:
            raise at.error(imported)
        typo = "unknown setting 'Providers', did you mean 'providers'?"
        raise at.child("Providers").error(f"{typo} Or, if {imported}")
    if "providers" in value:
        return
    if isinstance(value.get("model_list"), list):
        raise at.error(_is("LiteLLM", "litellm", file))
    if "opencode.ai" in str(value.get("$schema", "")) or isinstance(value.get("provider"), dict):
        raise at.error(_is("OpenCode", "opencode", file))


def _is(server: str, word: str, file: str) -> str:
    return f"this is a configuration of {server}: moongate import {word} {file}"
