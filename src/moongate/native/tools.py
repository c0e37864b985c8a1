"""The tools of a request, whose schemas the host may refuse."""

from __future__ import annotations

from operator import is_
from typing import Any

from moongate.kimi.native_rules import NativeRules
from moongate.kimi.notes import Notes
from moongate.kimi.request.schema_writer import SchemaWriter
from moongate.payload import JsonObject


def mended_tools(body: JsonObject, member: str, rules: NativeRules, notes: Notes) -> JsonObject:
    """The request with schemas that the host takes, `member` being their place in a tool.

    A schema whose properties would have to be renamed is left to the provider: the names would come back in the answer.
    """
    tools, schemas = body.get("tools"), rules.schema_writer(notes)
    if not isinstance(tools, list) or schemas is None:
        return body
    written = [_tool(tool, member, schemas, f"tools[{at}].{member}") for at, tool in enumerate(tools)]
    return body if all(map(is_, written, tools)) else {**body, "tools": written}


def _tool(tool: Any, member: str, schemas: SchemaWriter, path: str) -> Any:
    if not isinstance(tool, dict) or not isinstance(tool.get(member), dict):
        return tool
    name = str(tool.get("name", ""))
    written = schemas.write(tool[member], name, path)
    if written is tool[member] or name in schemas.properties:
        return tool
    return {**tool, member: written}
