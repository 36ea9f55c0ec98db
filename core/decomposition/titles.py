"""Which headings only name what stands under them, and so claim nothing themselves (III.2)."""

from __future__ import annotations

import re

from core.decomposition.clauses import has_finite_verb
from core.evidence.values import protected_values

# "Mindmap Structure Created", "Technical Issues Encountered": nobody is said to have done it.
_DONE = re.compile(
    r"(?:created|encountered|used|found|included|completed|generated|covered|retrieved|accomplished|"
    r"identified|recommended|saved|provided|performed|added|consulted|reviewed|needed|required)\Z",
    re.IGNORECASE,
)
# "Interactive Mindmap Features", "Estimated Weekly Cost": the noun, not the verb.
_NOUN_TOO = re.compile(
    r"\b(?:features?|costs?|needs?|results?|reports?|notes?|measures?|tests?|reviews?|changes?|uses?|"
    r"visits?|runs?|updates?|works?|shows?|lists?|plans?|documents?|records?|covers?|returns?|ends?|"
    r"closes?|means?|releases?|scores?|ranks?|stops?|starts?)(?=\Z|\s+(?:of|for|in|from|and|&)\b)",
    re.IGNORECASE,
)
_QUESTION_WORD = re.compile(r"(?:what|how|why|where|who|when)\b(?!.*\?)", re.IGNORECASE)
_NAMING = ("date", "time", "name")


def only_names(title: str) -> bool:
    """Whether a heading set as a title holds no verb and no value but a date or a time."""
    if not _set_as_title(title):
        return False
    bare = re.sub(r"[:\u2013\u2014-]+\s*\Z", "", title).strip()
    verbless = not has_finite_verb(_NOUN_TOO.sub(" ", _DONE.sub(" ", bare)))
    asked = _QUESTION_WORD.match(bare) is not None and len(bare.split()) <= 6
    if not (verbless or asked):
        return False
    return all(value.kind in _NAMING or _counts(value.text) for value in protected_values(bare))


def _counts(value: str) -> bool:
    """Whether a value is a small whole number that may number or count what stands below."""
    return re.fullmatch(r"\d{1,2}", value) is not None


def _set_as_title(title: str) -> bool:
    words = [word for word in re.findall(r"[^\W\d_][\w'’-]*", title) if len(word) > 3]
    return bool(words) and all(word[0].isupper() or word[0].isdigit() for word in words)
