"""What an error says of itself."""

from __future__ import annotations

from moongate.errors import MAX_CODE, MAX_MESSAGE, MAX_PATH, ConfigError, ConfigErrors, GatewayError, UpstreamRefused


def test_an_error_has_its_place_in_front_and_its_own_status() -> None:
    error = GatewayError("is missing", path="model", code="x", retry_after=2)
    assert (str(error), error.message, error.path) == ("model: is missing", "is missing", "model")
    assert (error.status, error.code, error.retry_after) == (500, "x", 2)
    refused = UpstreamRefused("no", status=401)
    assert (str(refused), refused.status, refused.code) == ("no", 401, None)


def test_several_errors_of_a_configuration_are_one() -> None:
    first, second = ConfigError("wrong", path="a"), ConfigError("missing", path="b")
    several = ConfigErrors([first, second])
    assert str(several) == "a: wrong; b: missing"
    assert several.errors == (first, second)
    assert isinstance(several, ConfigError)


def test_what_others_chose_of_an_error_is_bounded() -> None:
    error = GatewayError("m" * 100_000, path="p" * 100_000, code="c" * 100_000)
    assert (len(error.message), len(error.path), len(error.code or "")) == (MAX_MESSAGE, MAX_PATH, MAX_CODE)
    assert str(error) == f"{error.path}: {error.message}"
