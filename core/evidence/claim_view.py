"""A claim as the checks of its values read it: quantities, content words, dates, cues."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from core.evidence.quantities import read_quantities
from core.evidence.quantity_records import Day, Quantity, QuantityKind
from core.evidence.words import stem, stems
from core.text.tokens import PLAIN_WORD

_SHORT = re.compile(
    r"\b(?=[A-Za-z()0-9]*[A-Z][A-Za-z()]*[A-Z0-9])[A-Za-z][A-Za-z0-9]{1,6}\b|\b[A-Z]{2,7}\b"
)
_UP = re.compile(
    r"\b(?:up|rose|risen|rises?|rising|increas\w+|gain\w*|put on|climb\w*|higher|grew|grown|grows?|growing|"
    r"creep\w* up|jump\w*|upside|more|worsen\w*|heavier|taller)\b|\+\s?\d",
    re.IGNORECASE,
)
_DOWN = re.compile(
    r"\b(?:down|fell|fall(?:s|en|ing)?|drop\w*|decreas\w+|declin\w+|lost|los(?:s|es|ing)|lower\w*|slip\w*|"
    r"reduc\w+|came down|went down|downside|shrank|cut|less|lighter|improv\w+)\b|[-−]\s?\d",
    re.IGNORECASE,
)
_CHANGE = re.compile(
    r"\b(?:change\w*|difference|differ\w*|apart|between|versus|vs|compared|delta|swing|gap|upside|"
    r"downside|implies|over|than|from)\b",
    re.IGNORECASE,
)

_DENIES = re.compile(
    r"\b(?:no|not|never|none|neither|nor|without|n['’]t)\b|n['’]t\b", re.IGNORECASE
)
# Words that set two times or values against each other: a date then says not when the other one was.
_RELATES = re.compile(
    r"\b(?:than|versus|vs|against|compared|from|to|after|before|since|ago|later|earlier|between|until|by|"
    r"preceding|previous|prior|both|then|last(?:ed|s)|went|again|over|when|while|visit|now)\b|→|->",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimView:
    """What a claim says that can be compared: ``words`` are its content stems without its values."""

    text: str
    quantities: tuple[Quantity, ...]
    words: frozenset[str]
    shorts: frozenset[str]
    days: tuple[Day, ...]
    says_up: bool
    says_down: bool
    says_change: bool
    relates: bool
    denies: bool

    def behind(self, item: Quantity, most: int = 6) -> frozenset[str]:
        """The content stems of the words that follow a quantity, up to the end of its clause."""
        rest = re.split(
            r"[;:()\[\]]|,\s|\b(?:and|but|while|since|from|between|during)\b",
            self.text[item.span.end :],
        )[0]
        said = PLAIN_WORD.findall(rest)[:most]
        return frozenset(map(stem, said)) & self.words | stems(" ".join(said))


@lru_cache(maxsize=256)
def view_claim(text: str, people: frozenset[str] = frozenset()) -> ClaimView:
    """The claim's text as its checks read it; whose chart it is (``people``) says nothing of a value."""
    quantities = read_quantities(text)
    shorts = frozenset(match.group().lower() for match in _SHORT.finditer(text))
    bare = text
    for item in reversed(quantities):
        if item.kind is QuantityKind.DATE or not item.noun:
            bare = bare[: item.span.start] + " " + bare[item.span.end :]
    up, down = _UP.search(text) is not None, _DOWN.search(text) is not None
    return ClaimView(
        text=text,
        quantities=quantities,
        words=(stems(bare) - people) | ({"chang"} if up or down else frozenset()),
        shorts=shorts,
        days=tuple(item.date for item in quantities if item.date is not None),
        says_up=up,
        says_down=down,
        denies=_DENIES.search(text) is not None,
        relates=up or down or _RELATES.search(text) is not None,
        says_change=_CHANGE.search(text) is not None,
    )
