"""Reads YAML, in which only files of other servers are written: the parser is an extra, loaded when needed."""

from __future__ import annotations

from typing import Any, Final

from moongate.errors import ConfigError

MAX_DEPTH: Final = 64
MAX_VALUES: Final = 100_000  # with aliases written out: a few lines of them can stand for billions


def parse_yaml(text: str, file: str) -> Any:
    """Plain values, no Python objects. Raises ConfigError; no value is quoted, because one of them may be a key."""
    try:
        import yaml  # type: ignore[import-untyped, unused-ignore]
    except ImportError:
        raise ConfigError("YAML needs PyYAML: pip install 'moongate[yaml]'", path=file) from None
    try:
        value = yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = f"{file}:{mark.line + 1}:{mark.column + 1}" if mark is not None else file
        raise ConfigError("not valid YAML", path=place) from None
    except (yaml.YAMLError, RecursionError, ValueError):
        raise ConfigError("not valid YAML", path=file) from None
    return _PlainValues(file).of(value, 0)


class _PlainValues:
    """Copies values as JSON has them: YAML also has dates, sets, keys of any kind, and values that hold themselves."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._left = MAX_VALUES

    def of(self, value: Any, depth: int) -> Any:
        self._left -= 1
        if self._left < 0 or depth > MAX_DEPTH:
            raise ConfigError(f"more than {MAX_VALUES} values, or nested deeper than {MAX_DEPTH}", path=self._file)
        if isinstance(value, dict):
            return {str(key): self.of(each, depth + 1) for key, each in value.items()}
        if isinstance(value, list):
            return [self.of(each, depth + 1) for each in value]
        if value is None or isinstance(value, str | bool | float) or (isinstance(value, int) and abs(value) < 1 << 53):
            return value
        return str(value)
