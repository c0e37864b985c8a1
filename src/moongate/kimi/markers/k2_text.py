"""Shows the text between K2's markers, and drops the tags in it that are not quoted as code (section 5.5)."""

from __future__ import annotations

from moongate.kimi.markers.code_spans import MAX_SPAN_CHARS, CodeSpans
from moongate.kimi.markers.k2_block_reader import K2BlockReader
from moongate.kimi.markers.k2_markers import TAG_TEXTS, K2Markers, Marker
from moongate.kimi.markers.k2_table import BEFORE, START
from moongate.kimi.markers.pieces import Channel
from moongate.kimi.tool_set import ToolSet


class K2TextReader(K2BlockReader):
    """The part of the parser for text outside blocks."""

    __slots__ = ("_content_began", "_runs_before", "_spans", "_waiting", "_waiting_chars")

    def __init__(self, markers: K2Markers, tool_set: ToolSet, repair: bool) -> None:
        super().__init__(markers, tool_set, repair)
        self._content_began = False
        self._spans = CodeSpans()  # of content
        self._waiting: list[tuple[Marker | None, str]] = []  # a tag that may be code, and all text and tags behind it
        self._waiting_chars = 0
        self._runs_before = 0  # how many runs of backticks stood between the open one and that tag

    @property
    def has_code_in_doubt(self) -> bool:
        """Whether text without backticks may change what comes out."""
        return bool(self._waiting) or self._spans.pending

    def _enter(self, field: Channel) -> None:
        """The text that is read next comes from this field."""
        if field == self._builder.field:
            return
        self._builder.switch_field(field)
        if field == "content":
            if self._state is BEFORE and not self._content_began:
                self._state = START
        elif self._state is START:
            self._state = BEFORE
        else:
            self._content_began = True

    def _show(self, start: int, stop: int) -> None:
        """Text outside blocks, each part in the field it comes from."""
        for field, text in self._parts(start, stop):
            self._enter(field)
            self._show_part(text)

    def _show_part(self, text: str) -> None:
        self._put(text)
        if self._state is START:
            self._state = BEFORE

    def _put(self, text: str) -> None:
        """Visible text."""
        while self._waiting and self._waiting_chars + len(text) > MAX_SPAN_CHARS:  # the limit holds at any cut
            room = MAX_SPAN_CHARS - self._waiting_chars
            self._put_part(text[:room])
            text = text[room:]
            self._limit_waiting()
        self._put_part(text)

    def _put_part(self, text: str) -> None:
        builder, spans = self._builder, self._spans
        if not text:
            return
        if builder.channel == "content":
            if (spans.pending or "`" in text) and spans.feed(text):
                self._show_waiting()
            if self._waiting:
                self._waiting.append((None, text))
                self._waiting_chars += len(text)
                return
        builder.text(text)

    def _tag(self, marker: Marker, text: str) -> None:
        """A tag: dropped, unless it is quoted as code."""
        self._tag_part(marker, text)
        self._limit_waiting()

    def _tag_part(self, marker: Marker, text: str) -> None:
        builder, spans = self._builder, self._spans
        if builder.channel == "content":
            if spans.pending and spans.end_run():
                self._show_waiting()
            if spans.open:
                if not self._waiting:
                    self._runs_before = len(spans.inner)
                self._waiting.append((marker, text))
                self._waiting_chars += len(text)
                return
        builder.drop(marker, TAG_TEXTS[marker])
        if marker is Marker.THINK_END:
            builder.close_tag()

    def _limit_waiting(self) -> None:
        if self._waiting_chars >= MAX_SPAN_CHARS:
            self._settle_waiting()

    def _show_waiting(self) -> None:
        """The span was closed: the tags in it are text."""
        for _, text in self._waiting:
            self._builder.text(text)
        self._waiting.clear()
        self._waiting_chars = 0

    def _release_tags(self) -> None:
        """A call, another field or the end of the text follows: what waits leaves before it."""
        if self._spans.end_run():
            self._show_waiting()
        if self._waiting:
            self._settle_waiting()

    def _settle_waiting(self) -> None:
        """Decide about the tags that wait as if no backtick followed. Those that do follow count as they stand."""
        state = self._spans.state
        while self._waiting:
            if self._spans.end_run():
                self._show_waiting()
            else:
                self._read_waiting_again()
        self._spans.state = state

    def _read_waiting_again(self) -> None:
        """The open run of backticks opened nothing: the tags behind it are no code, or stand in another span."""
        waiting, self._waiting, self._waiting_chars = self._waiting, [], 0
        self._spans.give_up(self._runs_before)
        for marker, text in waiting:
            if marker is None:
                self._put_part(text)
            else:
                self._tag_part(marker, text)
