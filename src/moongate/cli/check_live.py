"""`moongate check --live`: asks every target of the configuration, and says what works and what it cost."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from moongate.cli.tables import print_json
from moongate.cli.terminal import Colours, fitted
from moongate.gateway.config.load import Config
from moongate.payload import JsonObject
from moongate.verify.client import VendorClient
from moongate.verify.native_probe import probe_native
from moongate.verify.probe import ProbeReport, estimated_tokens, probe
from moongate.verify.target import CHAT, VerifyTarget, configured_targets


def check_targets(config: Config, *, timeout: float, as_json: bool) -> int:
    targets = configured_targets(config)
    estimate = sum(estimated_tokens(target.model) for target in targets)
    if not as_json:
        print(f"asks {len(targets)} targets; at most about {estimate:,} tokens", flush=True)
    reports = asyncio.run(_probe_all(targets, timeout))
    if as_json:
        print_json(_json(reports, estimate))
    else:
        _print(reports)
    return 0 if all(report.verdict != "fails" for report in reports) else 1


async def _probe_all(targets: list[VerifyTarget], timeout: float) -> list[ProbeReport]:
    """One target after the other: a vendor that counts requests at the same time must not refuse the second."""
    reports = []
    for target in targets:
        client, *further = (
            VendorClient(replace(target, key=key), timeout=timeout) for key in (target.key, *target.further_keys)
        )
        try:
            ask = probe if target.front == CHAT else probe_native
            reports.append(await ask(client, further))
        finally:
            for each in (client, *further):
                each.close()
    return reports


def _print(reports: list[ProbeReport]) -> None:
    paint = Colours()
    for report in reports:
        style = "red" if report.verdict == "fails" else "green"
        print(f"\n{paint(report.target, 'bold')}  {paint(report.verdict, style)}")
        for step in report.steps:
            mark = paint("ok", "green") if step.ok else paint("no", "red")
            first = "" if step.first_byte_ms is None else f"  first byte after {step.first_byte_ms} ms"
            print(fitted(f"  {mark}  {step.name}: {step.detail}{first}"))
        if report.repairs:
            kinds = [f"{kind} × {count}" if count > 1 else kind for kind, count in report.repairs.items()]
            print(f"  repaired: {', '.join(kinds)}")
        if report.learned:
            print(f"  learned from refusals: {', '.join(report.learned)}")
    failed = sum(report.verdict == "fails" for report in reports)
    spent, more = _spent(reports)
    unsaid = f"; about {more:,} more in answers that say no usage" if more else ""
    print(f"\n{len(reports) - failed} of {len(reports)} targets work; {spent:,} tokens spent{unsaid}")


def _spent(reports: list[ProbeReport]) -> tuple[int, int]:
    """The tokens that the vendors have counted, and an estimate of those that they have not."""
    return sum(report.tokens for report in reports), sum(report.tokens_without_usage for report in reports)


def _json(reports: list[ProbeReport], estimate: int) -> JsonObject:
    targets: list[JsonObject] = [
        {
            "target": report.target,
            "verdict": report.verdict,
            "steps": [
                {"step": step.name, "ok": step.ok, "detail": step.detail, "first_byte_ms": step.first_byte_ms}
                for step in report.steps
            ],
            "repairs": dict(report.repairs),
            "learned": report.learned,
            "tokens": report.tokens,
            "tokens_without_usage": report.tokens_without_usage,
        }
        for report in reports
    ]
    spent, more = _spent(reports)
    return {"targets": targets, "tokens_estimated": estimate, "tokens": spent, "tokens_without_usage": more}
