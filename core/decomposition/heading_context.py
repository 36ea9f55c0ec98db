"""Leads: what stands above a list item, a row or a fragment and makes it a statement."""

from __future__ import annotations

import re
from dataclasses import dataclass

from core.decomposition.claim_type import claim_type_of, is_generic_title
from core.decomposition.clauses import has_finite_verb, main_verb
from core.decomposition.markdown import masked, plain
from core.records import ClaimType, StatedAttribution


@dataclass(frozen=True, slots=True, kw_only=True)
class Lead:
    """What stands above a list item, a row or a fragment and makes it a statement.

    ``joins`` is True for the start of a sentence ("The patient takes"), False for a label.
    """

    text: str = ""
    joins: bool = False
    stated: StatedAttribution | None = None
    about_patient: bool = False


_LONGEST_INTRO = 12  # words


def intro_label(text: str) -> tuple[str, bool]:
    """What an intro line gives to its items: (words, whether they open the item's sentence)."""
    text = re.sub(r"(?i)\s*,?\s*(?:including|include|includes|such as|like)?\s*(?:the|these) "
                  r"following(?: [\w-]+)?\Z", "", text).strip()  # fmt: skip
    text = re.sub(r"(?i)\A(?:based on [^,]{0,120},\s*)?(?:here(?:['’]s| is| are)|below (?:is|are)|"
                  r"these are|the following (?:is|are))\s+(?:(?:a|an) (?:[\w-]+ ){0,3}?"
                  r"(?:summary|overview|list|breakdown) of\s+)?(?:the\s+|your\s+)?", "", text)  # fmt: skip
    if is_generic_title(text) or claim_type_of(text, credited=False)[0] is not ClaimType.FACTUAL:
        return "", False
    verbs = (
        r"(?:is|are|was|were|has|have|had|takes|took|includes?|included|shows?|showed|lists?|on|"
        r"with|for|of)"
    )
    if has_finite_verb(text) and re.search(
        rf"\b{verbs}\Z|\b(?:taking|including|receiving)\Z", text
    ):
        return text, True
    if has_finite_verb(text):  # "The clinic stopped two tablets": without it an item would say less
        return (text if len(text.split()) <= _LONGEST_INTRO else ""), False
    return head_of(text), False


# What opens a list behind a statement that is made already: "The page has three parts, with:".
_OPENS_LIST = re.compile(
    r"[\s*_,]*\b(?:with|including|featuring|containing|covering|showing|such as|like|(?:organi[sz]ed|"
    r"grouped) (?:in|into|by))?(?: (?:the|these))?(?: following(?: [^\W\d_]+)?)?[\s*_:\uff1a]*\Z",
    re.IGNORECASE,
)
_DID = re.compile(
    r"(?:I(?:['’]ve| have)? )?(?:successfully |also )*[a-z]{3,}ed (?:successfully )?"
    r"(?:a|an|the|your|all|both|several|\d+|/|`)",
    re.IGNORECASE,
)


def claimed_before_list(raw: str) -> int | None:
    """Where the statement ends that an intro line makes by itself; None for a line that makes none.

    "Generated a chart of the sales with:" says that a chart was made, whatever it holds.
    """
    hidden = masked(raw)
    tail = _OPENS_LIST.search(hidden)
    if tail is None or not tail.group().strip(" *_:："):
        return None
    stem = plain(raw[: tail.start()])
    verb = main_verb(stem)
    stated = verb is not None and len(stem[verb.end() :].split()) > 2
    if not stated and _DID.match(stem) is None:
        return None
    kind = claim_type_of(stem, credited=False)[0]
    return tail.start() if kind is ClaimType.FACTUAL and len(stem.split()) > 4 else None


def led(lead: Lead, text: str) -> str:
    """The text behind its lead; the text itself where there is none or it repeats it."""
    if not lead.text or text.startswith(lead.text):
        return text
    if lead.joins:
        return f"{lead.text} {text}"
    return f"{lead.text}: {text}"


def head_of(text: str) -> str:
    """The part of a title or parent line that names it: "Jinx" of "Jinx (Champion 222) - Tier 1"."""
    head = re.split(r"\s*\(|\s+[-–—→]\s+", text, maxsplit=1)[0]
    if (scope := _SCOPE.match(text, len(head))) is not None:
        head += scope.group()
    match = re.match(r"(.{2,60}?):\s", head)
    if match is not None and not re.search(r"\s\d+\Z", match.group(1)):  # "Stop 1: Marlow"
        head = match.group(1)
    return head.rstrip(": .：") if len(head) <= 90 else ""


# A date or an id in brackets belongs to the name: "Lipids (March 2019)", "Jinx (Champion ID: 222)".
_SCOPE = re.compile(r"\s*\((?=[^()]*(?:\b(?:19|20)\d\d\b|\b(?:ID|PMID|MRN)\b|#\s?\d))[^()]{1,40}\)")


def unnumbered(text: str) -> str:
    """A title without its number."""
    return re.sub(r"\A\s*(?:\(?\d{1,3}[.)]|[IVX]{1,4}\.|[A-Z][.)])\s+", "", text)
