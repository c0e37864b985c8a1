"""`moongate check --json`: for scripts what the configuration means, or everything that is wrong in it."""

from __future__ import annotations

from moongate.cli.tables import print_json
from moongate.cli.warnings import config_warnings
from moongate.errors import ConfigError, ConfigErrors
from moongate.gateway.config.load import Config
from moongate.gateway.http.redaction import Redactor
from moongate.gateway.routing.routes import Routes
from moongate.payload import JsonObject


def print_valid(config: Config) -> None:
    routes, redact = Routes(config), Redactor(config.secrets).redact
    remaining = iter(routes.all)
    models: list[JsonObject] = []
    for source in config.sources:
        for model in source.models:
            route = next(remaining)
            names = [name for name, other in routes.listed() if other is route]
            models.append(
                {
                    "provider": source.name,
                    "model": model.name,
                    "names": list(dict.fromkeys([*names, route.name])),
                    "urls": [redact(endpoint.url) for endpoint in source.endpoints],
                    "chain": [step.name for step in source.chains[model.name]],
                    "fallback": [routes.all[index].name for index in route.fallback],
                }
            )
    settings = config.settings
    print_json(
        {
            "valid": True,
            "file": str(config.file),
            "host": settings.host,
            "port": settings.port,
            "models": models,
            "routes": [route.name for route in routes.configured],
            "aliases": dict(settings.aliases),
            "default": settings.default,
            "warnings": [redact(line) for line in config_warnings(config)],
        }
    )


def print_invalid(error: ConfigError) -> None:
    errors = error.errors if isinstance(error, ConfigErrors) else (error,)
    print_json({"valid": False, "errors": [{"place": each.path, "message": each.message} for each in errors]})
