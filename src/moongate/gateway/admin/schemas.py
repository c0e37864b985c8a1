"""The JSON schemas of what the admin listener takes and gives, for its OpenAPI document."""

from __future__ import annotations

from typing import Final

from moongate.gateway.store.fields import MAX_LIMIT, MAX_METADATA_FIELDS, MAX_MODELS, MAX_TEXT, TEXT_PATTERN
from moongate.gateway.store.usage import SUMS
from moongate.gateway.store.usage_report import DIMENSIONS
from moongate.payload import JsonObject

MAX_PAGE: Final = 1000  # entries of one answer
DEFAULT_PAGE: Final = 100
_TEXT: Final[JsonObject] = {"type": "string", "maxLength": MAX_TEXT, "pattern": TEXT_PATTERN}
_COUNT: Final[JsonObject] = {"type": ["integer", "null"], "minimum": 0, "maximum": MAX_LIMIT}
_TIME: Final[JsonObject] = {"type": ["string", "null"], "format": "date-time"}
DURATION: Final[JsonObject] = {"type": "string", "pattern": "^[1-9][0-9]{0,5}[smhd]$"}
DAY: Final[JsonObject] = {"type": "string", "format": "date"}
PAGE_SIZE: Final[JsonObject] = {"type": "integer", "minimum": 1, "maximum": MAX_PAGE, "default": DEFAULT_PAGE}
_NAME: Final[JsonObject] = {**_TEXT, "minLength": 1}
_DAYS: Final = "([1-9][0-9]{0,2}|[12][0-9]{3}|3[0-5][0-9]{2}|36[0-4][0-9]|3650)"  # up to `MAX_DAYS`
_LIMITS: Final[JsonObject] = {
    "models": {"type": "array", "maxItems": MAX_MODELS, "items": _NAME, "description": "empty: all"},
    "rpm": {**_COUNT, "description": "requests per minute"},
    "tpm": {**_COUNT, "description": "tokens per minute"},
    "concurrency": {**_COUNT, "description": "requests at the same time"},
    "budget": {"type": ["number", "null"], "minimum": 0, "maximum": MAX_LIMIT // 1_000_000, "description": "dollars"},
    "token_budget": _COUNT,
    "reset": {"type": "string", "pattern": f"^(day|week|month|never|{_DAYS}d)$"},
    "disabled": {"type": "boolean"},
    "metadata": {"type": "object", "maxProperties": MAX_METADATA_FIELDS},
}
_KEY_FIELDS: Final[JsonObject] = {
    "name": _TEXT,
    "team": {"type": ["string", "null"], "pattern": "^team_[0-9a-f]{16}$", "description": "a team's id"},
    "expires": {
        "description": "a date, a time, or how long from now",
        "anyOf": [DAY, {"type": "string", "format": "date-time"}, DURATION, {"type": "null"}],
    },
    **_LIMITS,
}
_TEAM_FIELDS: Final[JsonObject] = {"name": {**_TEXT, "minLength": 1}, **_LIMITS}


def _object(properties: JsonObject, required: list[str] | None = None) -> JsonObject:
    schema: JsonObject = {"type": "object", "properties": properties, "additionalProperties": False}
    return {**schema, "required": required} if required else schema


def _whole(properties: JsonObject) -> JsonObject:
    return _object(properties, list(properties))


def _page_of(item: JsonObject) -> JsonObject:
    data = {"type": "array", "items": item}
    return _whole({"object": {"const": "list"}, "data": data, "has_more": {"type": "boolean"}})


CHANGE_KEY: Final = _object(_KEY_FIELDS)
CREATE_TEAM: Final = _object(_TEAM_FIELDS, ["name"])
CHANGE_TEAM: Final = _object(_TEAM_FIELDS)
ROTATE: Final = _object({"grace": {**DURATION, "description": "how long the old text stays good; absent: not at all"}})
KEY: Final = _whole(
    {
        "id": {"type": "string"},
        "label": {"type": "string", "description": "the key's first characters"},
        **_KEY_FIELDS,
        "expires": _TIME,
        "created": _TIME,
        "last_used": _TIME,
    }
)
NEW_KEY: Final = _whole({**KEY["properties"], "key": {"type": "string", "description": "shown once"}})
TEAM: Final = _whole({"id": {"type": "string"}, **_TEAM_FIELDS, "created": _TIME})
KEYS: Final = _page_of(KEY)
TEAMS: Final = _page_of(TEAM)
DELETED: Final = _whole({"id": {"type": "string"}, "deleted": {"const": True}})
USAGE: Final = _page_of(
    _object(
        {
            **{name: {"type": "string"} for name in DIMENSIONS},
            **{name: {"type": "integer"} for name in SUMS if name != "cost"},
            "dollars": {"type": "number", "description": "without what has no price"},
        }
    )
)
AUDIT: Final = _page_of(
    _whole(
        {
            "id": {"type": "integer"},
            "time": {"type": "string", "format": "date-time"},
            "actor": {"type": "string"},
            "action": {"type": "string"},
            "subject": {"type": "string", "description": "the id of a key or team"},
            "detail": {"type": "object", "description": "what was changed: [before, after]"},
        }
    )
)
_NUMBER: Final[JsonObject] = {"type": "number"}
_MAYBE_NUMBER: Final[JsonObject] = {"type": ["number", "null"], "description": "null: not known"}
ROUTES: Final = _page_of(
    _whole(
        {
            "object": {"const": "route"},
            "name": {"type": "string"},
            "strategy": {"type": "string"},
            "sticky": {"type": "boolean"},
            "explore": {"type": "number", "description": "share of new sessions that explore"},
            "chosen": {"type": "array", "items": {"type": "string"}, "description": "who gets most new sessions"},
            "reason": {"type": "string"},
            "targets": {
                "type": "array",
                "items": _whole(
                    {
                        "target": {"type": "string"},
                        "health": {"type": "string"},
                        "prices": {"type": "object", "description": "dollars per million tokens; null: not known"},
                        "latency": _MAYBE_NUMBER,
                        **{name: {"type": "integer"} for name in ("rank", "in_flight")},
                        **dict.fromkeys(("weight", "share", "score", "low", "high", "raw", "answers"), _NUMBER),
                    }
                ),
            },
        }
    )
)
NODES: Final = _whole(
    {
        "object": {"const": "list"},
        "data": {
            "type": "array",
            "items": _whole(
                {
                    "name": {"type": "string"},
                    "alive": {"type": "boolean", "description": "heard of within five seconds"},
                    "seen": {"type": "number", "description": "seconds since it was heard of"},
                    "version": {"type": "string"},
                    "workers": {"type": "integer"},
                    "address": {"type": "string"},
                    "started": {"type": "integer", "description": "seconds since 1970"},
                }
            ),
        },
        "shared": {"type": ["boolean", "null"], "description": "is the shared state reached? null: there is none"},
        "has_more": {"type": "boolean"},
    }
)
ERROR: Final = _whole(
    {
        "error": _object(
            {
                "message": {"type": "string"},
                "type": {"type": "string"},
                "param": {"type": ["string", "null"], "description": "which field or parameter"},
                "code": {"type": ["string", "null"]},
            },
            ["message", "type"],
        )
    }
)
