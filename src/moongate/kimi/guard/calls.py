"""One call of an answer under the guard: mended if there is one obvious way, else what is wrong with it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Final

from moongate.chat.contracts import Note
from moongate.chat.message_tools import tools_of
from moongate.kimi.answer.judge import JudgedCall
from moongate.kimi.guard.check import SPARE_STEPS, CheckSteps, path_text
from moongate.kimi.guard.mend import Mended
from moongate.kimi.guard.names import by_tool_key, near_tool
from moongate.kimi.guard.tool_schemas import ToolSchema, ToolSchemas
from moongate.kimi.request.tools import parameters_by_name
from moongate.payload import JsonObject, dumps_exactly, loads, loads_exactly

_MOST_NAMES: Final = 20  # of offered tools in an error
_NEAR_NAME: Final = "the name differs from an offered tool's only in case, _, -, . or a prefix"
_REPAIRED: Final = "the text was not JSON"


@dataclass(frozen=True, slots=True)
class GuardedCall:
    """A call as it leaves. `error`: what is wrong with it, for the model; empty if it is valid."""

    name: str
    arguments: str
    custom: bool = False
    error: str = ""
    misfit: bool = False  # it is JSON for an offered tool, and does not fit the tool's schema
    notes: tuple[Note, ...] = ()  # one for each change; `where` is the place inside the call

    @property
    def judged(self) -> JudgedCall:
        return JudgedCall(self.name, self.arguments, self.custom, self.misfit)


class CallGuard:
    """For the tools of one request. `repair` is section 5.6 for the text of arguments that are not JSON."""

    __slots__ = ("_near", "_offered", "_prepared", "_repair", "_request", "_schemas", "_steps")

    def __init__(self, request: JsonObject, schemas: ToolSchemas, repair: Callable[[str], str] | None) -> None:
        self._request = request
        self._schemas = schemas
        self._repair = repair
        self._steps = CheckSteps(SPARE_STEPS)
        self._offered: Mapping[str, object] | None = None  # read for the first call
        self._near: dict[str, list[str]] | None = None  # its names by what is left of them, for the first wrong one
        self._prepared: dict[str, ToolSchema] = {}  # by tool, those that were called

    @property
    def offered(self) -> Mapping[str, object]:
        """The client's own schemas by tool, those of tools inside messages included."""
        if self._offered is None:
            tools, messages = self._request.get("tools"), self._request.get("messages")
            declared: list[object] = [*tools] if isinstance(tools, list) else []
            if isinstance(messages, list):
                places = [at for at, each in enumerate(messages) if isinstance(each, dict) and each.get("tools")]
                declared += tools_of(messages, places)
            self._offered = parameters_by_name(declared)
        return self._offered

    def check(self, name: str, arguments: str, *, custom: bool = False) -> GuardedCall:
        notes: list[Note] = []
        if name not in self.offered:
            if self._near is None:
                self._near = by_tool_key(self.offered)
            near = near_tool(name, self._near)
            if near is not None:
                notes.append(Note("guard", ".function.name", name, near, _NEAR_NAME))
                name = near
        made = partial(GuardedCall, name, custom=custom)
        if name not in self.offered:
            return made(arguments, error=_unknown(name, self.offered))
        if custom:
            return made(arguments, notes=tuple(notes))
        value, text, problem = self._parsed(arguments)
        if text != arguments:
            notes.append(Note("guard", ".function.arguments", arguments, text, _REPAIRED))
        if problem:
            return made(arguments, error=f"the arguments are not valid JSON ({problem})", notes=tuple(notes))
        return self._fitted(made, name, value, text, notes)

    def _fitted(
        self, made: Callable[..., GuardedCall], name: str, value: object, text: str, notes: list[Note]
    ) -> GuardedCall:
        schema = self._prepared.get(name)
        if schema is None:
            schema = self._prepared[name] = self._schemas.of(self.offered[name])
        self._steps.add_for(text)
        mismatch = schema.mismatch(value, self._steps)
        if mismatch is None:
            return made(text, notes=tuple(notes))
        self._steps.add_for(text)
        mended, written = _mended(schema, text, self._steps)
        if mended is None:
            error = f"the arguments do not fit the tool's schema: {mismatch}"
            return made(text, error=error, misfit=True, notes=tuple(notes))
        for fix in mended.fixes:
            where = f".function.arguments.{path_text(fix.path)}" if fix.path else ".function.arguments"
            notes.append(Note("guard", where, fix.before, fix.after, fix.why))
        return made(written, notes=tuple(notes))

    def _parsed(self, text: str) -> tuple[object, str, str]:
        """The value of the arguments, their text, and why they have no value."""
        try:
            return loads(text), text, ""
        except ValueError as error:
            problem = str(error)
        repaired = text if self._repair is None else self._repair(text)
        if repaired != text:
            try:
                return loads(repaired), repaired, ""
            except ValueError:
                pass
        return None, text, problem


def _mended(schema: ToolSchema, text: str, steps: CheckSteps) -> tuple[Mended | None, str]:
    """The mended arguments and their text, in which nothing else has changed."""
    try:
        mended = schema.mended(loads_exactly(text), steps)
        return mended, "" if mended is None else dumps_exactly(mended.value)
    except ValueError:
        return None, ""


def _unknown(name: str, offered: Collection[str]) -> str:
    if not offered:
        return f"there is no tool {name!r}: none is offered"
    names = ", ".join(islice(offered, _MOST_NAMES)) + (" …" if len(offered) > _MOST_NAMES else "")
    return f"there is no tool {name!r}; the tools are {names}"
