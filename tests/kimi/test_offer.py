"""Which offered tool takes these argument keys."""

from __future__ import annotations

from moongate.kimi.offer import Offer, ToolKeys

READ = ToolKeys(frozenset({"path", "limit"}), frozenset({"path"}))
NEWS = ToolKeys(frozenset({"topic"}), frozenset({"topic"}))
LIST = ToolKeys(frozenset({"path"}))


def test_a_tool_fits_if_it_takes_all_keys_and_needs_no_others() -> None:
    assert READ.fits({"path"})
    assert READ.fits({"path", "limit"})
    assert not READ.fits({"limit"})
    assert not READ.fits({"path", "x"})


def test_only_one_fitting_tool_is_named() -> None:
    offer = Offer({"read": READ, "news": NEWS, "list": LIST})
    assert offer.only_fit({"topic"}) == "news"
    assert offer.only_fit({"path"}) is None
    assert offer.only_fit({"x"}) is None
    assert offer.only_fit(()) == "list"


def test_what_was_offered() -> None:
    offer = Offer({"read": READ})
    assert offer.has("read")
    assert not offer.has("write")
    assert not Offer({}).has("read")
