"""The admin listener of `moongate serve`: its key and its socket.

If the configuration does not mention it, a key that cannot be kept or a port that is in use is a warning, and the
gateway serves without it: a configuration from before there was one must still start.
"""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass, replace
from pathlib import Path

from moongate.cli.terminal import warn
from moongate.errors import ConfigError
from moongate.gateway.config.load import Config
from moongate.gateway.http.client_key import ADMIN_FILE, own_key
from moongate.gateway.server.listening import listen
from moongate.gateway.server.shared_listener import SharedListener
from moongate.gateway.ui.sessions import link_token


@dataclass(frozen=True, slots=True)
class AdminListener:
    """`about` is the line of the banner. It has the key only if that was made just now, and only for a terminal.

    `problem` says why there is no listener although nobody switched it off. It is no reason not to serve.
    """

    listener: SharedListener | None = None
    about: str = ""
    problem: str = ""
    pages: str = ""  # a link that logs in to the pages once; "": none is shown
    url: str = ""

    def close(self) -> None:
        if self.listener is not None:
            self.listener.close()


def with_admin_key(config: Config, home: Path) -> Config:
    """The configuration with the key that the gateway keeps in its folder, if it names none. Raises ConfigError."""
    admin = config.settings.admin
    if admin is None or admin.key:
        return config
    try:
        made = replace(admin, key=own_key(home, ADMIN_FILE)[0])
    except ConfigError as error:
        if admin.at is not None:
            raise
        warn(f'{error}; there is no admin listener ("admin": "off" says so)')
        made = None
    return replace(config, settings=replace(config.settings, admin=made))


def open_admin_listener(
    config: Config, home: Path, shared_folder: Path | None, *, show_key: bool = False, show_link: bool = False
) -> AdminListener:
    """Without a listener if it is off. Raises ConfigError if the configuration names an address that cannot be used."""
    settings = config.settings
    admin = settings.admin
    if admin is None:
        return AdminListener()
    implied = admin.at is None
    try:
        # A gateway at any free port is not the only one here, so its admin listener takes any free port as well.
        sock = listen(admin.host, 0 if implied and settings.port == 0 else admin.port, 1)[0]
    except OSError as error:
        if not implied:
            raise ConfigError(_unusable(admin.host, admin.port, error), path="admin") from None
        reason = _reason(error, admin.port)
        problem = f'port {admin.port} cannot be used ({reason}): there is no admin listener; set "admin" to change that'
        return AdminListener(problem=problem)
    lock = None if shared_folder is None else shared_folder / "admin.lock"
    host = f"[{admin.host}]" if ":" in admin.host else admin.host
    where = f"http://{host}:{sock.getsockname()[1]}"
    key = admin.key if show_key else _where_key(config, home)
    pages = login_link(where, admin.key) if show_link and admin.ui else ""
    return AdminListener(SharedListener(sock, lock), f"{where} (key: {key})", pages=pages, url=where)


def login_link(where: str, admin_key: str) -> str:
    """The address of the pages that logs in once."""
    return f"{where}/ui/login?token={link_token(admin_key)}"


def _unusable(host: str, port: int, error: OSError) -> str:
    return f'cannot listen on {host}:{port}: {_reason(error, port)}; choose another address or port, or "off"'


def _reason(error: OSError, port: int) -> str:
    """Without what Python adds to the system's words: the address again."""
    from moongate.cli.port_in_use import listener  # needed only here

    owner = listener(port) if error.errno == errno.EADDRINUSE else ""
    words = os.strerror(error.errno) if error.errno is not None and error.errno > 0 else error.strerror or str(error)
    return f"{words} by {owner}" if owner else words


def _where_key(config: Config, home: Path) -> str:
    assert config.settings.admin is not None
    path = home / ADMIN_FILE
    try:
        is_own = path.read_text(encoding="ascii").strip() == config.settings.admin.key
    except (OSError, UnicodeDecodeError):
        is_own = False
    return str(path) if is_own else "as configured"
