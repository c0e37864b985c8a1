"""What `moongate serve` prints once it listens: the address, the client key, and a command to try it with."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from moongate import payload
from moongate.cli.config_path import DEFAULT
from moongate.cli.credential import client_credential
from moongate.cli.running_gateways import client_url
from moongate.cli.terminal import Colours, command, warn
from moongate.gateway.config.load import Config
from moongate.gateway.http.client_key import own_key
from moongate.gateway.http.pages import is_compiled
from moongate.gateway.record.messages import write_stderr
from moongate.payload import JsonObject, dumps_text

_MAKEFILE: Final = Path(payload.__file__).parents[2] / "Makefile"  # of the repository; an installed package has none


@dataclass(frozen=True, slots=True)
class Banner:
    """`home` is the gateway's folder. `show_url`: the configuration file does not say where the gateway listens."""

    home: Path
    is_demo: bool
    show_url: bool
    show_key: bool = False
    admin: str = ""  # the address of the admin listener, and where its key is
    problem: str = ""  # why there is none; printed once the gateway listens, so that an error of its own comes alone
    pages: str = ""  # a link that logs in to its pages once

    def print(self, config: Config, port: int) -> None:
        """To standard error: standard output is for the lines of the log."""
        if self.problem:
            warn(self.problem)
        write_stderr("\n".join([*self._lines(config, port, Colours(sys.stderr)), ""]))

    def _lines(self, config: Config, port: int, paint: Colours) -> Iterator[str]:
        host = config.settings.host
        yield f"{paint('moongate', 'bold')} listens on {paint(_url(host, port), 'cyan')}"
        yield build_line()
        yield f"see what it repairs: {command()} demo"
        url = client_url(host, port)
        credential = client_credential(config, self.home)
        key, where = credential.shell, credential.where
        if (self.show_key or self.is_demo) and config.client_keys == ():
            key = where = own_key(self.home)[0]
        yield f"client key: {where}"
        if self.admin:
            yield f"admin: {self.admin}"
        if self.pages:
            yield f"inspector (this link works once): {paint(self.pages, 'cyan')}"
        if self.is_demo:
            yield f"provider: the built-in simulator (no {DEFAULT} here; '{command()} init' writes one)"
        flags = f" --config {shlex.quote(str(config.file))}" if config.file not in (None, DEFAULT) else ""
        flags += f" --url {url}" if self.show_url else ""
        yield f"your agent: {command()} connect claude-code --write{flags} (or codex, opencode, kimi-code, …)"
        body = dumps_text(self._request(config))
        yield "try it (it comes as markers in the text, and leaves as a call):" if self.is_demo else "try it:"
        yield f"  curl {url}/v1/chat/completions -H 'Content-Type: application/json' \\"
        yield f'    -H "Authorization: Bearer {key}" \\'
        yield f"    -d {shlex.quote(body)}"

    def _request(self, config: Config) -> JsonObject:
        """A request to try. The simulator's shows a repair; a real model might have no reason to call a tool."""
        message = {"role": "user", "content": "Hello"}
        if not self.is_demo:
            source = config.sources[0]
            return {"model": f"{source.name},{source.models[0].name}", "messages": [message]}
        from moongate.sim.behaviours import model_name  # a start with a configuration needs no simulator

        tool = {"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}}
        return {"model": model_name("k2", "markers"), "messages": [message], "tools": [tool]}


def build_line(makefile: Path = _MAKEFILE) -> str:
    """Which of the two builds runs, and where the faster one is."""
    if is_compiled():
        return "runs as machine code"
    source = "`make compiled` builds" if makefile.exists() else "wheels for Linux and macOS have"
    return f"runs as Python; {source} the same as machine code, which takes about a fifth less CPU"


def _url(host: str, port: int) -> str:
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"
