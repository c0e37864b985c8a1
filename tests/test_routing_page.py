"""docs/routing.md: its configuration is valid, its example is computed, and it names every strategy and reason."""

from __future__ import annotations

import json
import re
from pathlib import Path

from docs.generate import DOCS

from moongate.gateway.config.load import parse_config
from moongate.gateway.config.route_settings import STRATEGIES
from moongate.gateway.routing.quality import PRIOR_ANSWERS, PRIOR_SCORE, Quality, QualityRanks, wilson
from moongate.gateway.routing.route import SUFFIXES
from moongate.gateway.routing.route_reports import FALLBACK
from moongate.gateway.routing.routes import Routes
from moongate.gateway.routing.selector import EXPLORE, RESTING, STICKY
from moongate.gateway.routing.session_key import HEADERS
from moongate.gateway.routing.strategies import TargetSnapshot, rank

PAGE = (DOCS / "routing.md").read_text(encoding="utf-8")


def test_the_configuration_is_valid() -> None:
    text = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)[0]
    assert json.loads(text)["routes"]["kimi"]["strategy"] == "quality"
    config = parse_config(text, "config.json", Path(), {"MOONSHOT_KEY": "k", "TOGETHER_KEY": "k"})
    assert Routes(config).find("kimi").policy is not None


def test_the_example_is_computed() -> None:
    rows = [line.strip("| ").split(" | ") for line in PAGE.split("\n") if re.match(r"\| `\w+` \| \d", line)]
    qualities, prices = [], []
    for _, answers, good, score, interval, price, _ in rows:
        of, sound = int(answers) + PRIOR_ANSWERS, int(good) + PRIOR_ANSWERS * PRIOR_SCORE
        low, high = wilson(sound, of)
        assert (score, interval) == (f"{sound / of:.3f}", f"{low:.3f} – {high:.3f}")
        qualities.append(Quality(sound / of, low, high, sound / of, of, 1.0))
        prices.append(int(float(price) * 100))
    ranks = QualityRanks(len(rows))
    ranks.update(qualities)
    assert ranks.worse == [False, False, False, True]
    snapshots = [TargetSnapshot(price=price, worse=worse) for price, worse in zip(prices, ranks.worse, strict=True)]
    ranking = rank("quality", snapshots)
    assert (ranking.tiers.index(0), ranking.reason) == (1, "price")


def test_every_word_is_on_the_page() -> None:
    reasons = {
        STICKY,
        EXPLORE,
        FALLBACK,
        RESTING,
        "order",
        "weight",
        "in_flight",
        "latency",
        "price",
        "quality",
        "equal",
    }
    words = {word for name, aliases in STRATEGIES.items() for word in (name, *aliases)}
    headers = {header.decode() for header in HEADERS}
    for word in reasons | words | headers | {f":{suffix}" for suffix in SUFFIXES}:
        assert f"`{word}`" in PAGE, word
