"""norm-v1: the one form in which answers and evidence are compared lexically (002)."""

from __future__ import annotations

import re
import unicodedata
from functools import cached_property

from core.records import Span

# Filler of four letters and more: it is in almost any English text and says nothing of a topic.
STOP_WORDS = frozenset(
    """about above across after again against ahead almost along already also although always among
    another anything around back because been before behind being below beside besides between beyond
    both cannot could does doing done down during each either else even ever every from further gets
    goes have having here hers herself himself however indeed instead into itself just least less like
    many maybe might mine more most much must myself near neither never next none nonetheless onto
    other others ought ours over perhaps quite rather really same seem seems several shall should
    since some something still such than that their theirs them then there therefore these they this
    those though through thus till toward towards under unless until upon very well were what whatever
    when whenever where wherever whether which whichever while whoever whom whose will with within
    without would your yours""".split()
)
_EDGE = '.,;:!?"()[]{}“”*_`'
_DIGITS = re.compile(r"\d+(?:,\d+)*")
_WIKI_LINK = re.compile(r"\[\[(?:[^\[\]|]*\|)?([^\[\]|]*)\]\]")
_WIKI_MARKS = re.compile(r"'{2,5}|<ref[^<>]*/>|<ref[^<>]*>.*?</ref>|\{\{[^{}]*\}\}", re.S)


def norm_v1(text: str) -> str:
    """``text`` in NFC, its white space collapsed, in lower case."""
    return " ".join(unicodedata.normalize("NFC", text).split()).lower()


def plain_wikitext(text: str) -> str:
    """``text`` without wiki links, bold marks, templates and references; other text as it is."""
    if "[[" not in text and "{{" not in text:
        return text
    return _WIKI_MARKS.sub("", _WIKI_LINK.sub(r"\1", text))


class Context:
    """Evidence to look things up in, normalised once."""

    def __init__(self, text: str) -> None:
        self.text = norm_v1(plain_wikitext(text))

    @cached_property
    def digit_runs(self) -> frozenset[str]:
        """The digit runs of the evidence, without thousands commas."""
        return digit_runs(self.text)

    def place(self, unit: str) -> int | None:
        """Where ``unit`` stands word for word, as an offset in the normalised text; None where not.

        A hit inside a longer word or number is none: "50 mg" does not stand in "150 mg".
        """
        wanted = norm_v1(unit).rstrip(" .,;:!?")
        if not wanted:
            return None
        start = self.text.find(wanted)
        while start >= 0:
            if _whole(self.text, start, start + len(wanted)):
                return start
            start = self.text.find(wanted, start + 1)
        return None

    def holds(self, unit: str) -> bool:
        """Whether ``unit`` stands in the evidence word for word."""
        return self.place(unit) is not None

    def covers(self, tokens: tuple[str, ...], share: float) -> bool:
        """Whether at least ``share`` of ``tokens`` occur in the evidence; no token covers nothing."""
        spare = len(tokens) * (1 - share) + 1e-9
        for token in tokens:
            if token not in self.text:
                spare -= 1
                if spare < 0:
                    return False
        return bool(tokens)


def _whole(text: str, start: int, end: int) -> bool:
    before, first = text[start - 1 : start], text[start]
    last, after = text[end - 1], text[end : end + 2]
    if first.isalnum() and before.isalnum():
        return False
    if first.isdigit() and before in (".", ",") and text[start - 2 : start - 1].isdigit():
        return False
    if last.isalnum() and after[:1].isalnum():
        return False
    return not (last.isdigit() and after[:1] in (".", ",") and after[1:].isdigit())


def paraphrase_tokens(text: str) -> tuple[str, ...]:
    """The lower-case tokens of four letters and more that are no stop words, in order."""
    tokens = (raw.strip(_EDGE) for raw in norm_v1(text).split())
    # Numbers are compared as digit runs instead: "8849" is not written in "8,849".
    return tuple(
        token
        for token in tokens
        if len(token) >= 4 and token not in STOP_WORDS and _DIGITS.fullmatch(token) is None
    )


def digit_runs(text: str) -> frozenset[str]:
    """The digit runs of ``text``, "8,849" as "8849"; decimals split at their point."""
    return frozenset(match.group().replace(",", "") for match in _DIGITS.finditer(text))


def is_prose(text: str, lower_case_tokens: int) -> bool:
    """Whether ``text`` writes that many tokens of four letters and more in lower case (lists do not)."""
    for raw in text.split():
        core = raw.strip(_EDGE + "'")
        if len(core) >= 4 and core[0].islower():
            lower_case_tokens -= 1
            if lower_case_tokens <= 0:
                return True
    return False


def trimmed(text: str, start: int, end: int) -> Span:
    """The range without the white space at its edges."""
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return Span(start=start, end=end)
