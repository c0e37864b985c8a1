from __future__ import annotations

import base64
import json
import textwrap
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.length import examples

from moongate.errors import GatewayError
from moongate.gateway.http.error_page import page_text
from moongate.gateway.http.redaction import MASK, MAX_ERROR_EVENTS, MAX_LOCATED, WINDOW, Redactor
from moongate.gateway.http.spelling import fold

SECRET = "sk-can/ary+secret=42"
REDACTOR = Redactor([SECRET, "sk-can", "short"])


@pytest.mark.parametrize(
    "text",
    [
        SECRET,
        f"Incorrect API key provided: {SECRET}.",
        f"as hexadecimal digits {SECRET.encode().hex()} or {SECRET.encode().hex().upper()}",
        f"https://x/?key={quote(SECRET, safe='')}&b=1",
        f"https://x/?key={quote(SECRET, safe='').lower()}",
        "".join(f"%{byte:02X}" for byte in SECRET.encode()),
        base64.b64encode(SECRET.encode()).decode(),
        base64.urlsafe_b64encode(f"user:{SECRET}".encode()).decode(),
        base64.b64encode(f"xx{SECRET}yy".encode()).decode(),
    ],
)
def test_a_secret_is_masked_in_every_form(text: str) -> None:
    redacted = REDACTOR.redact(text)
    assert MASK in redacted
    assert SECRET[6:] not in redacted


def test_other_text_stays_the_same_object() -> None:
    text = "nothing to hide, short as it is"
    assert REDACTOR.redact(text) is text
    assert Redactor([]).redact(text) is text


@settings(max_examples=examples(200), deadline=None, derandomize=True)
@given(st.binary(max_size=9), st.binary(max_size=9), st.text("abcXYZ019-_+/", min_size=8, max_size=24))
def test_base64_around_a_secret_is_masked(before: bytes, after: bytes, secret: str) -> None:
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        text = encode(before + secret.encode() + after).decode()
        assert MASK in Redactor([secret]).redact(text)


def test_a_secret_with_escaped_slashes_is_masked() -> None:
    assert Redactor(["abc/def/ghi"]).redact(r'"abc\/def\/ghi"') == f'"{MASK}"'


KEY = "sk-Canary0123456789/abc+DEF"
SPELLINGS = {
    "other case": KEY.swapcase(),
    "JSON escapes": "".join(f"\\u{ord(each):04x}" for each in KEY),
    "some JSON escapes": KEY.replace("s", "\\u0073").replace("/", "\\u002F"),
    "escaped twice": KEY.replace("a", "\\\\u0061"),
    "markup": f"{KEY[:6]}<b>{KEY[6:12]}</b>{KEY[12:]}",
    "escaped markup": f"{KEY[:6]}&lt;b&gt;{KEY[6:]}",
    "URL escapes": "".join(f"%{ord(each):02x}" for each in KEY),
    "URL escapes twice": KEY.replace("C", "%2543"),
    "entities": "".join(f"&#{ord(each)};" for each in KEY),
    "padded entities": "".join(f"&#00000{ord(each)};" for each in KEY),
    "padded hexadecimal entities": "".join(f"&#x0000000{ord(each):x};" for each in KEY),
    "named entities": f"{KEY[:6]}&hyphen;&nbsp;&amp;hyphen;{KEY[6:]}",
    "blanks": " ".join(KEY),
    "zero-width": "\u200b".join(KEY),
    "lines": f"{KEY[:9]}\n  {KEY[9:]}",
}


@pytest.mark.parametrize("name", SPELLINGS)
def test_a_secret_is_masked_in_any_spelling(name: str) -> None:
    redactor = Redactor([KEY])
    text = f"Incorrect key: {SPELLINGS[name]} was given"
    # Where its place cannot be told, the whole text is masked.
    assert redactor.redact(text) == (MASK if name == "escaped markup" else f"Incorrect key: {MASK} was given")
    # Far more text than is searched for its place: nothing of it is shown.
    assert redactor.redact(text + "." * MAX_LOCATED) == MASK


def inside(markup: str) -> str:
    return KEY[:12] + markup + KEY[12:]


WIDE_SPELLINGS = {
    "a comment": inside("<!-- why -->"),
    "a comment with markup": inside("<!-- a > b, <i>why</i> -->"),
    "an attribute with a bracket": inside('<a title="x>y">'),
    "another quote": inside("<a title='x>y'>"),
    "a script": inside("<script>let key = 1</script>"),
    "a style": inside("<style media=print>b {}</style>"),
    "a template": inside("<template>words</template>"),
    "sections": f"<![CDATA[{inside(']]><![CDATA[')}]]>",
    "an escaped comment": inside("\\u003c!-- a>b --\\u003e"),
    "colours": "\x1b[1;31m".join(KEY),
    "escapes of Python": "".join(f"\\x{ord(each):02x}" for each in KEY),
    "one of them": KEY.replace("C", "\\x43"),
    "escapes of JavaScript": "".join(f"\\u{{{ord(each):x}}}" for each in KEY),
    "long escapes": "".join(f"\\U{ord(each):08x}" for each in KEY),
    "octal escapes": "".join(f"\\{ord(each):03o}" for each in KEY),
    "URL escapes of browsers": "".join(f"%u{ord(each):04x}" for each in KEY),
    "full width": "".join(chr(ord(each) + 0xFEE0) for each in KEY),
    "long s": KEY.replace("s", "\u017f"),
    "digits with blanks": KEY.encode().hex(" "),
    "base64 in lines": "\n".join(textwrap.wrap(base64.b64encode(f"Bearer {KEY}".encode()).decode(), 9)),
}


@pytest.mark.parametrize("name", WIDE_SPELLINGS)
def test_nothing_of_a_secret_is_left_in_a_rare_spelling(name: str) -> None:
    redactor = Redactor([KEY])
    spelt = WIDE_SPELLINGS[name]
    for text in (f"Incorrect key: {spelt} was given", f"{spelt}{'.' * MAX_LOCATED}", page_text(f"<p>is {spelt}</p>")):
        redacted = redactor.redact(text)
        assert MASK in redacted or text == "is"
        assert KEY[12:].lower() not in fold(redacted.lower())
        assert not any(spelt[at : at + 12] in redacted for at in range(len(spelt) - 12))


@pytest.mark.parametrize("name", SPELLINGS)
def test_events_stay_events(name: str) -> None:
    message = json.dumps(SPELLINGS[name])
    event = f'event: error\ndata: {{"error":{{"message":{message},"list":[1,{message}]}}}}\n\n: {MASK}\n\n'.encode()
    lines = Redactor([KEY]).redact_events(event).decode().split("\n")
    assert lines[0] == "event: error"
    error = json.loads(lines[1].removeprefix("data: "))["error"]
    assert (error["message"], error["list"][1]) == (MASK, MASK)
    assert lines[2:] == ["", f": {MASK}", "", ""]


# Nothing of the secret shows before the escapes of JSON are resolved: the markup inside of it is written with them.
HIDDEN = json.dumps(f"{KEY[:9]}<b>{KEY[9:]}").replace("<", "\\u003c").replace(">", "\\u003e")


@pytest.mark.parametrize("event", ["%s", "[1,%s]", '{"a":%s}', '[[{"a":[%s]}]]'])
def test_the_escapes_of_any_json_value_are_resolved(event: str) -> None:
    (line, *_) = Redactor([KEY]).redact_events(f"data: {event % HIDDEN}\n\n".encode()).decode().split("\n")
    assert json.loads(line.removeprefix("data: ")) == json.loads(event % json.dumps(MASK))


def test_a_line_of_an_event_that_is_no_json_is_masked_whole() -> None:
    redactor = Redactor([KEY])
    assert redactor.redact_events(f"data: oops {KEY.upper()}\n\n".encode()) == f"data: {MASK}\n\n".encode()
    untouched = b"data: \xff bytes stay as they are\n\n"
    assert redactor.redact_events(untouched) == untouched


@pytest.mark.parametrize("depth", [100, 900])
def test_a_deep_event_with_a_secret_is_masked_whole(depth: int) -> None:
    deep = b"[" * depth + b"]" * depth
    event = b'data: {"error":{"message":"%b","x":%b}}\n\n' % (KEY.upper().encode(), deep)
    assert Redactor([KEY]).redact_events(event) == f"data: {MASK}\n\n".encode()


def test_in_a_long_output_only_the_event_of_the_error_is_looked_at() -> None:
    answer = b'data: {"text":"%b"}\n\n' % KEY.encode() + b"data: {}\n\n" * MAX_ERROR_EVENTS
    error = b'data: {"error":"%b"}\n\n' % KEY.upper().encode()
    assert Redactor([KEY]).redact_events(answer + error) == answer + b'data: {"error":"%b"}\n\n' % MASK.encode()


def test_two_secrets_in_unusual_spellings_are_both_masked() -> None:
    other = "another-secret-of-ours-42"
    text = f"{KEY.upper()} and {other.upper()}"
    assert Redactor([KEY, other]).redact(text) == f"{MASK} and {MASK}"


@pytest.mark.parametrize("at", [WINDOW - 9, WINDOW, 2 * WINDOW + 5])
def test_a_secret_in_a_long_text_is_found_wherever_it_stands(at: int) -> None:
    assert Redactor([KEY]).redact("." * at + KEY.upper() + "." * WINDOW) == MASK


def test_words_that_share_letters_with_a_secret_stay() -> None:
    text = "sk-Canary 0123456789"
    assert Redactor([KEY]).redact(text) is text


def test_short_secrets_are_found_only_as_they_are() -> None:
    redactor = Redactor(["ab-cd-ef"])
    assert redactor.redact("x ab-cd-ef") == f"x {MASK}"
    assert redactor.redact("abc def") == "abc def"


def test_every_text_of_an_error_is_masked() -> None:
    error = GatewayError(KEY.upper(), code=KEY.lower(), path=f"a.{KEY.upper()}")
    Redactor([KEY]).redact_error(error)
    assert KEY.upper()[:20] not in f"{error.message}{error.code}{error.path}{error}"
    assert KEY.lower()[:20] not in f"{error.message}{error.code}{error.path}{error}"


@pytest.mark.parametrize(
    "spelt",
    [
        "".join(f"\\x{ord(each):02x}" for each in KEY),
        "".join(f"\\{ord(each):03o}" for each in KEY),
        "".join(f"\\\\u{ord(each):04x}" for each in KEY),
        f"{KEY[:9]}\x1b[31m{KEY[9:]}",
        f'{KEY[:9]}<span class="a>b">{KEY[9:]}</span>',
    ],
    ids=["hexadecimal", "octal", "JSON inside of JSON", "colour", "tag"],
)
def test_what_json_spells_once_more_in_an_event(spelt: str) -> None:
    """The escapes of JSON stand around those of the text: in the event's bytes alone it does not show."""
    for error in ({"message": f"bad key {spelt}"}, {spelt: [[{"message": 1}]]}, {"message": "a", "more": ["b", spelt]}):
        masked = Redactor([KEY]).redact_events(b'data: {"a":1}\n\ndata: ' + json.dumps({"error": error}).encode())
        assert MASK.encode() in masked, error
        assert masked.startswith(b'data: {"a":1}\n\ndata: {"error":')
        assert json.dumps(spelt)[1:-1].encode() not in masked
