"""The session of a streamed answer: the fast one, unless `MOONGATE_FAST=0` turned it off."""

from __future__ import annotations

from moongate.chat.contracts import Encoder, Exchange
from moongate.fast.session import FastSession
from moongate.pipeline.session import Session
from moongate.switches import FAST


def new_session(
    exchange: Exchange, content_type: str, encoder: Encoder, limit: int, document_limit: int, *, fast: bool = FAST
) -> Session:
    """`limit` is for one event, `document_limit` for an answer that comes as one document."""
    return (FastSession if fast else Session)(exchange, content_type, encoder, limit, document_limit)
