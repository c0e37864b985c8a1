"""A provider's error in words for the person who reads it in a client: which provider, where, and what to do.

A client knows only the gateway. Without this its user takes a provider's "Invalid Authentication" for a word about the
key that the client sends. A 400 keeps the provider's own words, and so does every error about a prompt that is too
long, because agents match them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from moongate.dialects.overflow import overflow_of
from moongate.errors import BadUpstream, GatewayError, UpstreamRefused, UpstreamTimeout
from moongate.gateway.http.upstream_errors import clamp_retry_after, is_quota, words_of
from moongate.net.dial import Origin

# What to do about an error without an answer of the provider, by its code.
_ADVICE: Final = {
    "connect": "is it running, and is its api_base_url right?",
    "connect_timeout": "is its address reachable from here (api_base_url, proxy, firewall)?",
    "unknown_host": "is its api_base_url right, and is this machine online?",
    "certificate": "correct its api_base_url, or name its certificate in ca_file",
    "no_tls": "correct its api_base_url: http instead of https?",
    "address_refused": "correct its api_base_url",
    "proxy": "check its proxy setting, or HTTPS_PROXY",
    "head_timeout": "try again, or raise timeouts.head",
    "first_timeout": "try again, or raise timeouts.first_event",
    "silence_timeout": "try again, or raise timeouts.silence",
    "whole_timeout": "try again, or raise timeouts.whole",
    "status": "correct its api_base_url",
    "web_page": "correct its api_base_url",
    "bad_http": "is its api_base_url right?",
    "closed": "try again; if it goes on, is its api_base_url right (http or https)?",
}


def address_of(origin: Origin) -> str:
    """The URL of an origin, without its default port."""
    return ("https://" if origin.tls else "http://") + origin.authority.removesuffix(":443" if origin.tls else ":80")


def name_provider(error: GatewayError, provider: str, origins: Sequence[Origin], model: str) -> None:
    """Put the provider, its addresses and what to do into the error's message. To be called once per error."""
    if not isinstance(error, BadUpstream) or overflow_of(error) is not None:
        return
    if error.status == 400 and not is_quota(error):
        return
    who = f"provider {provider!r} ({', '.join(map(address_of, origins))})"
    if isinstance(error, UpstreamRefused):
        text = _refusal(error, who, provider, model)
    else:
        text = f"{who}: {error.message}"
        advice = _ADVICE.get(error.code or "", "try again" if isinstance(error, UpstreamTimeout) else "")
        text += f"; {advice}" if advice else ""
    error.message = text
    error.args = (f"{error.path}: {text}" if error.path else text,)


def _refusal(error: UpstreamRefused, who: str, provider: str, model: str) -> str:
    words = words_of(error)
    said = f". It said: {words}" if words else ""
    if is_quota(error):
        return f"{who} says that the quota or balance of its API key is used up: add credit there{said}"
    if error.status == 401:
        # The same words everywhere, so that they can be searched for.
        return f"provider {provider!r} refused its API key; your moongate key is fine. Correct api_key of {who}{said}"
    if error.status == 403:
        return f"{who} refused access with its API key; your moongate key is fine. See there what the key may use{said}"
    if error.status == 404:
        return f"{who} does not know the model {model!r}, or its api_base_url is wrong: correct the configuration{said}"
    if error.status == 429:
        after = error.retry_after
        when = "later" if after is None else f"in {clamp_retry_after(after)}s"
        return f"{who} limits the rate of its API key: try again {when}{said}"
    return f"{who} answered with status {error.status}" + (f": {words}" if words else "")
