"""The URLs of the store and of the shared state, with secrets resolved."""

from __future__ import annotations

from dataclasses import replace

from moongate.gateway.config.secrets import resolve_secret
from moongate.gateway.config.settings import Settings
from moongate.gateway.config.sources import ConfigLookup
from moongate.gateway.shared.address import parse_address


def with_store(settings: Settings, around: ConfigLookup) -> Settings:
    """The place of the store may stand in a variable or a file, because a URL has a password in it."""
    store = settings.store
    if not store.place.startswith(("$", "file:")):
        return settings
    assert store.at is not None
    place = resolve_secret(store.place, store.at, around.environment, around.folder)
    return replace(settings, store=replace(store, place=place))


def with_state(settings: Settings, around: ConfigLookup) -> Settings:
    """The URL of the shared state, which may have a password in it."""
    state = settings.state
    if not state.url:
        return settings
    assert state.at is not None
    url = resolve_secret(state.url, state.at, around.environment, around.folder)
    try:
        parse_address(url)
    except ValueError as error:
        raise state.at.error(str(error)) from None
    return replace(settings, state=replace(state, url=url))
