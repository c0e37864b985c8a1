"""A place in the configuration file, for error messages: file, line, path, and the nearest known name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import ParamSpec, TypeVar, cast

from moongate.errors import ConfigError, ConfigErrors
from moongate.gateway.config.jsonc import ConfigDocument, join_path


@dataclass(frozen=True, eq=False, repr=False)
class ConfigPlace:
    """The path of a value in a document."""

    document: ConfigDocument
    path: str = ""

    def child(self, key: str | int) -> ConfigPlace:
        return ConfigPlace(self.document, join_path(self.path, key))

    def error(self, message: str) -> ConfigError:
        return self.document.error(self.path, message)


Arguments = ParamSpec("Arguments")
Found = TypeVar("Found")


def line_of(error: ConfigError, file: str) -> int:
    """The line of the file that an error is about; 0 if it is about the whole file."""
    line = error.path.removeprefix(f"{file}:").partition(":")[0]
    return int(line) if line.isdecimal() else 0


class PartlyRead(ConfigErrors):
    """The errors of a value, and what of it could be read: good for finding more errors."""

    def __init__(self, errors: Sequence[ConfigError], value: object) -> None:
        super().__init__(errors)
        self.value = value


class ErrorCollector:
    """Collects the errors of independent steps, so that a person sees all of them at once.

    with errors.collect():
        step()
    errors.raise_collected()
    """

    def __init__(self) -> None:
        self.errors: list[ConfigError] = []

    @contextmanager
    def collect(self) -> Iterator[None]:
        try:
            yield
        except ConfigErrors as several:
            self.errors += several.errors
        except ConfigError as error:
            self.errors.append(error)

    def attempt(
        self, read: Callable[Arguments, Found], *args: Arguments.args, **named: Arguments.kwargs
    ) -> list[Found]:
        """What `read` returns, or what it could read in spite of errors, in a list; it is empty if that is nothing."""
        with self.collect():
            try:
                return [read(*args, **named)]
            except PartlyRead as partly:
                self.errors += partly.errors
                return [cast(Found, partly.value)]
        return []

    def raise_collected(self, readable: object = None) -> None:
        """Raise the error, or ConfigErrors if there are several; return if there is none.

        `readable` goes with them: the value without what is wrong in it.
        """
        different = list({str(error): error for error in self.errors}.values())  # models may share a wrong option
        if different and readable is not None:
            raise PartlyRead(different, readable)
        if len(different) == 1:
            raise different[0]
        if different:
            raise ConfigErrors(different)


def suggest(name: str, known: Iterable[str]) -> str:
    """`, did you mean 'x'?`, or the list of known names."""
    import difflib  # needed for errors only

    names = list(known)
    by_lower = {each.lower(): each for each in names}
    close = difflib.get_close_matches(name.lower(), by_lower, n=1, cutoff=0.6)
    if close:
        return f", did you mean {by_lower[close[0]]!r}?"
    return f"; known: {', '.join(names)}" if names else ""


def json_type(value: object) -> str:
    """The JSON type of a value, in words."""
    names = {dict: "an object", list: "a list", str: "a text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")
