"""Keys and teams as people write them: fields out of JSON or the command line, and back. Dollars, dates, names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final, TypeVar

from moongate.errors import BadRequest
from moongate.gateway.limits.limit_set import LimitSet
from moongate.gateway.limits.periods import parse_period
from moongate.gateway.store.entities import StoredKey, Team
from moongate.payload import JsonObject, dumps

DOLLAR: Final = 1_000_000
MAX_LIMIT: Final = 10**15
MAX_TEXT: Final = 200
# Without control characters, ends of lines, and what changes the direction of a text; those of any script are good.
TEXT_PATTERN: Final = r"^[^\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]*$"
_TEXT: Final = re.compile(TEXT_PATTERN)
_SURROGATE: Final = re.compile("[\ud800-\udfff]")  # of an argument that is not UTF-8
MAX_MODELS: Final = 200
MAX_METADATA: Final = 4096  # bytes of JSON
MAX_METADATA_FIELDS: Final = 50
SHARED_FIELDS: Final = (
    *("name", "models", "rpm", "tpm", "concurrency", "budget", "token_budget", "reset", "disabled", "metadata"),
)
KEY_FIELDS: Final = (*SHARED_FIELDS, "team", "expires")
_DURATION: Final = re.compile(r"([1-9][0-9]{0,8})([smhd])")
_SECONDS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
Entity = TypeVar("Entity", StoredKey, Team)


def changed_key(key: StoredKey, fields: Mapping[str, object], now: float) -> StoredKey:
    """The key with the fields that are given; null takes a limit away. Raises BadRequest with the field's name."""
    _check_names(fields, KEY_FIELDS)
    key = _changed(key, fields)
    if "team" in fields:
        key = replace(key, team=_optional_text("team", fields["team"]))
    if "expires" in fields:
        key = replace(key, expires=None if fields["expires"] is None else parse_time("expires", fields["expires"], now))
    return key


def changed_team(team: Team, fields: Mapping[str, object]) -> Team:
    _check_names(fields, SHARED_FIELDS)
    team = _changed(team, fields)
    if not team.name:
        raise BadRequest("a team needs a name", path="name")
    return team


def key_view(key: StoredKey) -> JsonObject:
    """A key for JSON, without its digest."""
    return {
        "id": key.id,
        "label": key.label,
        "team": key.team,
        **_shared_view(key),
        "created": time_text(key.created),
        "expires": time_text(key.expires),
        "last_used": time_text(key.last_used),
    }


def team_view(team: Team) -> JsonObject:
    return {"id": team.id, **_shared_view(team), "created": time_text(team.created)}


def parse_duration(name: str, value: object) -> int:
    """Seconds of `30d`, `12h`, `15m`, `90s`."""
    found = _DURATION.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        raise BadRequest("expected a duration like 30d, 12h, 15m or 90s", path=name)
    return int(found[1]) * _SECONDS[found[2]]


def parse_time(name: str, value: object, now: float) -> int:
    """Seconds since 1970 of `2026-12-31`, `2026-12-31T12:00:00Z` (UTC if no zone is given), or a duration from now."""
    if isinstance(value, str):
        try:
            if _DURATION.fullmatch(value):
                return _representable(int(now) + parse_duration(name, value))
            moment = datetime.fromisoformat(value)
            return _representable(int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()))
        except (ValueError, OverflowError):
            pass
    raise BadRequest("expected a date (2026-12-31), a time (2026-12-31T12:00:00Z) or a duration (30d)", path=name)


def money_text(dollars: float) -> str:
    """Dollars with cents, and with more digits where cents would show nothing of them."""
    if dollars >= 0.1 or not dollars:
        return f"{dollars:,.2f}"
    return f"{dollars:.4f}" if dollars >= 0.001 else f"{dollars:.6f}"


def time_text(seconds: int | None) -> str | None:
    """2026-11-18T05:00:00Z."""
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")


def _representable(seconds: int) -> int:
    """A time with a year of four digits. Raises ValueError or OverflowError for any other."""
    datetime.fromtimestamp(seconds, UTC)
    return seconds


def _shared_view(each: StoredKey | Team) -> JsonObject:
    limits = each.limits
    return {
        "name": each.name,
        "models": list(each.models),
        "rpm": limits.rpm or None,
        "tpm": limits.tpm or None,
        "concurrency": limits.concurrency or None,
        "budget": None if limits.budget is None else limits.budget / DOLLAR,
        "token_budget": limits.token_budget,
        "reset": limits.reset,
        "disabled": each.disabled,
        "metadata": each.metadata,
    }


def _changed(each: Entity, fields: Mapping[str, object]) -> Entity:
    each = replace(each, limits=_limits(each.limits, fields))
    if "name" in fields:
        each = replace(each, name=_optional_text("name", fields["name"]) or "")
    if "models" in fields:
        each = replace(each, models=_models(fields["models"]))
    if "disabled" in fields:
        if not isinstance(fields["disabled"], bool):
            raise BadRequest("expected true or false", path="disabled")
        each = replace(each, disabled=fields["disabled"])
    if "metadata" in fields:
        each = replace(each, metadata=_metadata(fields["metadata"]))
    return each


def _limits(limits: LimitSet, fields: Mapping[str, object]) -> LimitSet:
    for name in ("rpm", "tpm", "concurrency"):
        if name in fields:
            limits = replace(limits, **{name: _whole(name, fields[name]) or 0})  # type: ignore[arg-type]
    if "token_budget" in fields:
        limits = replace(limits, token_budget=_whole("token_budget", fields["token_budget"]))
    if "budget" in fields:
        limits = replace(limits, budget=_money(fields["budget"]))
    if "reset" in fields:
        try:
            limits = replace(limits, reset=parse_period(str(fields["reset"])))
        except ValueError as error:
            raise BadRequest(str(error), path="reset") from None
    return limits


def _check_names(fields: Mapping[str, object], known: tuple[str, ...]) -> None:
    for name in fields:
        if name not in known:
            raise BadRequest(
                f"there is no field {name[:40]!r}: {', '.join(known)}", path=name[:40], code="unknown_field"
            )


def _whole(name: str, value: object) -> int | None:
    if value is None:
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # JSON knows no difference between 5 and 5.0
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MAX_LIMIT:
        raise BadRequest(f"expected a whole number from 0 to {MAX_LIMIT}, or null for no limit", path=name)
    return value


def _money(value: object) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= MAX_LIMIT / DOLLAR:
        raise BadRequest("expected a number of dollars, or null for no limit", path="budget")
    return round(value * DOLLAR)


def _optional_text(name: str, value: object) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str) or len(value) > MAX_TEXT or not _TEXT.match(value) or _SURROGATE.search(value):
        raise BadRequest(f"expected at most {MAX_TEXT} printable characters", path=name)
    return value


def _models(value: object) -> tuple[str, ...]:
    if (
        not isinstance(value, list)
        or len(value) > MAX_MODELS
        or not all(isinstance(each, str) and each for each in value)
    ):
        raise BadRequest(f"expected a list of at most {MAX_MODELS} names or patterns", path="models")
    return tuple(_optional_text("models", each) or "" for each in value)


def _metadata(value: object) -> JsonObject:
    if not isinstance(value, dict) or len(value) > MAX_METADATA_FIELDS or len(dumps(value)) > MAX_METADATA:
        limits = f"at most {MAX_METADATA_FIELDS} fields and {MAX_METADATA} bytes"
        raise BadRequest(f"expected an object of {limits}", path="metadata")
    return value
