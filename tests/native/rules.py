"""Rules of a Kimi model at Moonshot, and a history for them."""

from __future__ import annotations

from typing import Any

from moongate import KimiTransformer
from moongate.kimi.native_rules import NativeRules
from moongate.native.call_history import CallHistory

MOONSHOT = "https://api.moonshot.ai/v1"


def rules_of(model: str = "kimi-k2.6", base_url: str = MOONSHOT, **options: Any) -> NativeRules:
    return KimiTransformer.from_config(options, model=model, base_url=base_url).native_rules


def history_of(rules: NativeRules | None = None) -> CallHistory:
    return CallHistory((rules or rules_of()).call_ids())
