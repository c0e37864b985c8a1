"""Writes the parts of the documentation that the code knows: `python -m docs.generate`.

A test compares: what the docs list, the code generates.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from pathlib import Path
from typing import Any

from bench.report import costs_table, growth_lines, headline_table, turns_table
from docs.agent_pages import agent_pages, agents_table
from docs.command_pages import COMMANDS_PAGE, MAN_PAGE, commands_page, man_page
from docs.demo_picture import FILE as DEMO
from docs.demo_picture import output, picture
from docs.fleet_tables import drill_tables, figure_tables
from docs.library_page import LIBRARY_PAGE, library_page
from docs.provider_table import providers_table

from moongate.gateway.config.schema import shipped_schema, tables
from moongate.gateway.record.log_lines import FIELDS, Entry, json_line, text_line
from moongate.gateway.record.metrics import FAMILIES
from moongate.gateway.record.quality_metrics import GAUGES
from moongate.gateway.trace.attribute_names import GEN_AI
from moongate.kimi.config_fields import option_name
from moongate.kimi.generations import GENERATIONS, Generation
from moongate.kimi.hosts import (
    EFFORTS,
    HOSTS,
    LOWEST_EFFORT,
    MOONSHOT_PARAMETERS,
    SAMPLING_FIELDS,
    HostFacts,
    ParameterFacts,
)
from moongate.kimi.markers.k2_table import diagram
from moongate.kimi.options import KimiOptions
from moongate.kimi.refusals import REFUSALS
from moongate.kimi.tool_tokens import ToolTokens
from moongate.payload import dumps_text
from moongate.sim.behaviours_table import behaviours_table
from moongate.transformers.table import GENERIC

DOCS = Path(__file__).parent
SCHEMA = DOCS.parent / "src" / "moongate" / "gateway" / "config" / "schema.json"


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table in Markdown."""
    titles = list(head)
    lines = [titles, ["---"] * len(titles), *(list(row) for row in rows)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines) + "\n"


def options_table() -> str:
    """Every option with its default, what it may be, and what it means."""
    rows = []
    for option in fields(KimiOptions):
        words = " ".join(f'`"{word}"`' for word in option.metadata["words"])
        kind = words or {bool: "`true` `false`", str: "text", ToolTokens: "object"}[type(option.default)]
        default = "the five K2 markers" if option.name == "tool_tokens" else f"`{dumps_text(option.default)}`"
        rows.append([f"`{option_name(option.name)}`", default, kind, option.metadata["meaning"].replace("|", "\\|")])
    return table(["option", "default", "may be", "meaning"], rows)


def tokens_table() -> str:
    """The marker texts."""
    return table(
        ["name in `toolTokens`", "text"], ([option_name(each.name), f"`{each.default}`"] for each in fields(ToolTokens))
    )


def models_table() -> str:
    """Each generation, how it is recognised, and what is true of it wherever it runs."""
    thinking = {"never": "no", "switchable": "yes, can be switched off", "always": "always", "unknown": "not known"}

    def row(generation: Generation) -> list[str]:
        facts = generation.facts
        found = ", ".join(f"`{name}`" for name in generation.examples)
        return [
            *(facts.title, facts.generation, found),
            *(facts.family.grammar, facts.family.id_rule.value, thinking[facts.thinking]),
        ]

    head = ["model", "generation", "names like", "calls in text", "ids", "thinks"]
    return table(head, map(row, GENERATIONS))


def parameters_table() -> str:
    """What Moonshot's own API takes from each generation."""
    thinking = {"as asked": "as asked", "drop": "dropped", "drop disabled": "`disabled` dropped"}
    thinking["drop unless disabled"] = "dropped, except `disabled`"
    mapped = ", ".join(f"{asked} → {sent}" for asked, sent in EFFORTS.items() if asked != sent)
    choices = {
        "as asked": "as asked",
        "auto": "required, named → `auto` while it thinks",
        "required": "named → `required`",
    }

    def row(generation: str, facts: ParameterFacts) -> list[str]:
        return [
            generation,
            thinking[facts.thinking],
            "dropped" if facts.fixed_sampling else "as asked",
            choices[facts.forced_choice],
            "→ `max_completion_tokens`" if facts.token_limit != "as asked" else "as asked",
            f"`thinking.effort` wins; {mapped}, other words → {LOWEST_EFFORT}" if facts.takes_effort else "as asked",
        ]

    head = ["generation", "`thinking`", "sampling", "`tool_choice`", "`max_tokens`", "`reasoning_effort`"]
    rows = (row(generation, facts) for generation, facts in MOONSHOT_PARAMETERS.items())
    return table(head, rows)


def hosts_table() -> str:
    """Each host, how it is recognised, and what is true of it whatever model it runs."""

    def row(host: HostFacts) -> list[str]:
        needs = [
            f"at most {host.max_tools} tools" if host.max_tools else "",
            f"tool names like `{host.tool_name.pattern}` (others are renamed and turned back)"
            if host.tool_name
            else "",
            "tool schemas in Moonshot's flavour (normalised)" if host.validates_schemas else "",
            "parameters of each generation (below)" if host.parameters else "",
            "reasoning on every call of a thinking model (a blank where there is none)" if host.needs_reasoning else "",
            "reasoning under the name `reasoning` (sent under both names)" if host.reads_reasoning else "",
            "tools inside messages in the form of its API (K3), or none (K2: moved to `tools`)"
            if host.checks_message_tools
            else "",
            "the effort of K3 in `chat_template_kwargs.thinking_effort`" if host.takes_template_arguments else "",
        ]
        found = ", ".join(f"`{domain}`" for domain in host.domains) or f'option `host: "{host.name}"`'
        if host is HOSTS[-1]:
            found = "any other address"
        return [host.name, found, "; ".join(filter(None, needs)) or "nothing of its own"]

    return table(["host", "recognised by", "needs"], map(row, HOSTS))


def refusals_table() -> str:
    """The rules that are learned from refusals."""
    return table(
        ["rule", "what it does", "option"],
        ([f"`{rule.name}`", rule.meaning, f"`{option_name(rule.option)}`"] for rule in REFUSALS),
    )


def generic_table() -> str:
    """Every generic transformer, with its options."""

    def shown(default: object) -> str:
        return "its own text" if isinstance(default, str) and len(default) > 40 else f"`{dumps_text(default)}`"

    rows = []
    for name, row in GENERIC.items():
        made: Any = row.build(None, "")
        declared = [] if name == "customparams" else fields(made)
        options = "; ".join(f"`{each.name}` ({shown(each.default)}): {each.metadata['meaning']}" for each in declared)
        rows.append([f"`{name}`", row.does, options or "–"])
    return table(["name", "what it does", "options (defaults)"], rows)


def cautions_table() -> str:
    """Where generic transformers disturb Kimi."""
    rows = [
        [f"`{name}`", row.before or "–", row.behind or "–"] for name, row in GENERIC.items() if row.before or row.behind
    ]
    return table(["name", "before Kimi", "behind Kimi"], rows)


def models_page() -> str:
    """docs/models.md"""
    return f"""\
# Which Kimi needs what

Made by `python -m docs.generate` from the rows of `kimi/generations.py` and `kimi/hosts.py`: a new model or host is one
row there. `moongate check` says which row was taken, and why. The evidence is in [wire-facts.md](wire-facts.md).

## Models: true wherever they run

Case and separators (`/`, `-`, `_`, `.`, or `p` for a dot) do not matter; the first row that fits the name counts. The
option `family` wins over the name.

{models_table()}
## Hosts: true whatever they run

The option `host` wins over the address.

{hosts_table()}
## Moonshot's API, by generation

Sampling fields are {", ".join(f"`{name}`" for name in SAMPLING_FIELDS)}. A generation
without a row is sent as asked, and so is everything with `parameterRules: "off"`.

{parameters_table()}"""


def speed_sentence() -> str:
    """The README's sentence about speed, from the table of docs/speed.md."""
    rows = [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in headline_table().split("\n")]
    cells = {row[0]: row[2:4] for row in rows if len(row) > 3}
    request, chunk = cells.get("µs per small request"), cells.get("µs per streamed chunk")
    if not request or not chunk:
        return "[All figures](docs/speed.md).\n"
    texts = [cell.replace(" (", " µs (").replace("×)", "× nginx)") for cell in (*request, *chunk)]
    return (
        f"A small request takes {texts[0]} of CPU time as machine code (`make compiled`) and {texts[1]} as Python; "
        f"a streamed chunk takes {texts[2]} and {texts[3]}. [All figures](docs/speed.md).\n"
    )


def log_table() -> str:
    """Every field of a log line."""
    return table(["field", "what it holds"], ([f"`{name}`", text] for name, text in FIELDS.items()))


def metrics_table() -> str:
    """Every metric."""
    computed = {f"moongate_quality_{name}": ("gauge", about) for name, about in GAUGES.items()}
    rows = ([f"`{name}`", kind, about] for name, (kind, about) in {**FAMILIES, **computed}.items())
    return table(["metric", "type", "what it counts"], rows)


def names_table() -> str:
    """The attributes of traces in both generations."""
    rows = ([f"`{what}`", *(f"`{name}`" if name else "" for name in names)] for what, names in GEN_AI.items())
    return table(["what", "by default", "newest"], rows)


def log_examples() -> str:
    """The same request in both forms."""
    entry = Entry(
        when=1_800_000_000.25,
        id=b"req_5f1c9a0b4d2e00000001",
        client="anna",
        front="chat",
        method="POST",
        path="/v1/chat/completions",
        requested="kimi",
        provider="moonshot",
        model="kimi-k2.6",
        status=200,
        streamed=True,
        first_byte=0.31,
        duration=2.5,
        usage={"prompt_tokens": 812, "completion_tokens": 64},
        notes={"id": 1, "finish_reason": 1},
        attempts=1,
        error="",
    )
    return f"```text\n{json_line(entry).decode()}```\n\n```text\n{text_line(entry).decode()}```\n"


def filled(page: str, **parts: str) -> str:
    """The page with each part between `<!-- name -->` and `<!-- /name -->` made anew."""
    for name, text in parts.items():
        begin, end = f"<!-- {name} -->\n", f"<!-- /{name} -->"
        head, _, rest = page.partition(begin)
        _, found, tail = rest.partition(end)
        if not found:
            raise ValueError(f"no place for {name}")
        page = f"{head}{begin}{text}{end}{tail}"
    return page


def pages() -> dict[Path, str]:
    """Each page that the code knows something of, as it should be."""
    kimi = DOCS / "kimi.md"
    configuration = DOCS / "configuration.md"
    simulator = DOCS / "simulator.md"
    log, metrics = DOCS / "log.md", DOCS / "metrics.md"
    transformers, traces, agents = DOCS / "transformers.md", DOCS / "traces.md", DOCS / "agents.md"
    speed, readme = DOCS / "speed.md", DOCS.parent / "README.md"
    fleet, providers = DOCS / "fleet.md", DOCS / "providers.md"
    grammar = f"```mermaid\n{diagram()}```\n"
    return {
        kimi: filled(
            kimi.read_text(encoding="utf-8"),
            options=options_table(),
            tokens=tokens_table(),
            grammar=grammar,
            refusals=refusals_table(),
        ),
        DOCS / "models.md": models_page(),
        fleet: filled(fleet.read_text(encoding="utf-8"), drills=drill_tables(), figures=figure_tables()),
        configuration: filled(configuration.read_text(encoding="utf-8"), settings=tables()),
        SCHEMA: shipped_schema(),
        log: filled(log.read_text(encoding="utf-8"), examples=log_examples(), fields=log_table()),
        metrics: filled(metrics.read_text(encoding="utf-8"), metrics=metrics_table()),
        traces: filled(traces.read_text(encoding="utf-8"), names=names_table()),
        simulator: filled(simulator.read_text(encoding="utf-8"), rows=behaviours_table() + "\n"),
        transformers: filled(
            transformers.read_text(encoding="utf-8"), generic=generic_table(), cautions=cautions_table()
        ),
        DEMO: picture(output()),
        MAN_PAGE: man_page(),
        COMMANDS_PAGE: commands_page(),
        LIBRARY_PAGE: library_page(),
        agents: filled(agents.read_text(encoding="utf-8"), agents=agents_table()),
        providers: filled(providers.read_text(encoding="utf-8"), providers=providers_table()),
        **agent_pages(),
        speed: filled(
            speed.read_text(encoding="utf-8"),
            bench=headline_table(),
            turns=turns_table(),
            costs=costs_table(),
            growth=growth_lines(),
        ),
        readme: filled(readme.read_text(encoding="utf-8"), bench=speed_sentence()),
    }


if __name__ == "__main__":
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")
