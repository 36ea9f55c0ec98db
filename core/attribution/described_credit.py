"""The credit of a sentence that names its source as the trace's tools do: "billing says" (III.2)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from core.attribution.cues import Credit, frame_of
from core.attribution.described_source import is_own_work
from core.attribution.families import Mention
from core.records import Span

# Verbs by which a source speaks. What it has, includes or costs may be said of anything.
_SPEAKS = re.compile(
    r"(?:adds?|advis\w+|asks?|bears?|calls?|confirm\w*|defin\w+|document\w*|exclud\w+|expect\w*|"
    r"explain\w*|giv\w+|gave|indicat\w+|list\w*|mark\w*|mention\w*|names?|not(?:es?|ed)|oblig\w+|"
    r"prescrib\w+|puts?|quot\w+|reads?|recommend\w*|record\w*|report\w*|requir\w+|sa(?:ys?|id)|"
    r"sets?|show\w*|specif\w+|stat(?:es?|ed)|suggest\w*|tells?|told|wants?|warn\w*|writ\w+|wrote)",
    re.IGNORECASE,
)
_FROM = re.compile(
    r"\W*(?:according to|as|based on|by|found|from|in|on|per|seen|taken|under|via|within)\b",
    re.IGNORECASE,
)
_INITIALS = re.compile(r"[A-Z]{2,5}")
_NEAR = 60  # characters behind a name in which its verb stands
_WHICH = re.compile(r"\s(?:from|of|by|dated|for)\s")
_WORDS = re.compile(r"[\w.'’/-]+")
_VERB = re.compile(r"(?:\s(?:itself|themselves|also|still|now|then|clearly))*\s(?P<verb>\w+)")


def credit_of_description(text: str, named: Sequence[tuple[Span, str]]) -> Credit | None:
    """The first of the named sources that the sentence credits, in a way that is known to credit.

    ``named`` are (place, source_id); None when none of them is credited.
    """
    for span, source_id in named:
        mention = Mention(family_id="", span=span, paraphrase=False)
        frame = frame_of(text, mention)
        speaks = _speaks(text, span)
        stretch, removable = frame or (span, None)
        if not speaks and (
            frame is None
            or (removable is None and stretch.end > span.end)  # "The invoice has two lines"
            or _INITIALS.fullmatch(span.cut(text))  # "JPMorgan (JPM)"
        ):
            continue
        if removable is not None and is_own_work(removable.cut(text)):
            continue
        return Credit(span=stretch, families=(), removable=removable, source_id=source_id)
    return None


def may_be_described(said: str, *, removable: bool) -> bool:
    """Whether a credit that is known as one may be read by the words that describe a source.

    What stands apart credits, and so does what speaks; "The shopping list needs" is about the list.
    """
    words = _WORDS.findall(said)
    if removable or not words or _FROM.match(said):
        return True
    return _SPEAKS.fullmatch(words[-1]) is not None


def _speaks(text: str, span: Span) -> bool:
    """Whether the words behind a name are what it says: "the usage log of May shows"."""
    behind = text[span.end : span.end + _NEAR]
    told = _WHICH.match(behind)
    ends = [0] if told is None else [0, *(m.end() for m in _WORDS.finditer(behind, told.end()))]
    verbs = (_VERB.match(behind, end) for end in ends[:6])
    return any(verb is not None and _SPEAKS.fullmatch(verb["verb"]) for verb in verbs)
