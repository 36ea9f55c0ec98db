"""Which line of the evidence a claim is about, and what the claim got wrong or left out of it."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass

from core.evidence.names import MONTHS
from core.evidence.values import names_in, protected_values, value_present
from core.records import ProtectedValue, Span
from core.text.sentences import sentence_spans
from core.text.tokens import content_terms, is_content_word, normalised_term, overlap, words

_LONGEST_LINE = 300  # in a longer one, a value that fits may be about something else
_CORRECTABLE = frozenset(("number", "percent", "dose", "date", "time", "currency"))
# Words without which a statement says more than its source does.
_NEGATIONS = frozenset(
    "no not nor never none without neither cannot denies denied absent negative refused "
    "declined".split()
)
_QUALIFIERS = _NEGATIONS | frozenset(
    "may might could possible possibly potentially suspected probable probably likely unlikely "
    "mild mildly moderate moderately severe severely minor major history former formerly previous "
    "previously past resolved inactive discontinued family some most approximately about only "
    "significantly nonsignificant partially partly rarely sometimes occasionally intermittent "
    "chronic acute early late preliminary provisional borderline slightly modestly planned "
    "considered stopped low high subgroup secondary".split()
)


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceLine:
    """A line or sentence of a premise, and the share of the claim's content words that it holds."""

    text: str
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """``span`` of the statement becomes ``after``; ``added`` are the source's words."""

    span: Span
    after: str
    added: str


def best_line(claim: str, premise: str, *, without: str = "") -> EvidenceLine | None:
    """The line of the premise that shares most with the claim, the first of equals; None without any.

    Names are left out of the comparison (every line of a chart is about its patient), and so is
    ``without``: the value that the claim may have got wrong.
    """
    wanted = content_terms(claim) - content_terms(without) - _terms_of_names(claim)
    found = [
        EvidenceLine(text=text, share=round(share, 4))
        for text in lines_of_evidence(premise)
        if (share := overlap(wanted, content_terms(text)))
        and not _is_code(text)
        and not _LEANS.match(text)
    ]
    return max(found, key=lambda line: line.share, default=None)


# A sentence that says nothing by itself.
_LEANS = re.compile(r"(?:this|that|these|those|it|they|he|she|such|the (?:former|latter))\b", re.I)


def _is_code(line: str) -> bool:
    """Whether a line is structure that nobody should read as a sentence: raw JSON, a table's rule."""
    marks = sum(character in '{}[]"\\|<>=' for character in line)
    return '":' in line or "{" in line or marks > max(4, len(line) // 12)


def _terms_of_names(claim: str) -> frozenset[str]:
    return frozenset(term for name in names_in(claim) for term in content_terms(name.text))


def lines_of_evidence(premise: str) -> tuple[str, ...]:
    """The sentences and record lines of a premise, in order."""
    found = []
    for line in premise.splitlines():
        found += [span.cut(line) for span in sentence_spans(line)]
    return tuple(text for text in found if text.strip())


def fitting_value(
    wrong: ProtectedValue, statement: str, line: str, others: Sequence[ProtectedValue]
) -> str | None:
    """The one value of the line that can stand for ``wrong``, as the answer would write it.

    It is of the same kind and unit and is not another value of the ``statement``; a bare number must
    stand beside the same word. None unless exactly one fits. A date is written as precisely as the
    wrong one was.
    """
    if wrong.kind not in _CORRECTABLE or len(line) > _LONGEST_LINE:
        return None
    taken = {value.normalised for value in others if value.normalised != wrong.normalised}
    fits: dict[str, str] = {}
    for value in protected_values(line):
        if value.kind != wrong.kind or _unit(value) != _unit(wrong) or value.normalised in taken:
            continue
        if (
            value.kind == "number"
            and not _unit(value)
            and not _same_neighbour(statement, wrong, line, value)
        ):
            continue
        written = _date_like(wrong.text, value) if value.kind == "date" else value.text
        if written is not None:
            fits.setdefault(value.normalised, written)
    if len(set(fits.values())) != 1:
        return None
    (only,) = set(fits.values())
    again = protected_values(only)
    held = bool(again) and all(value_present(value, line) for value in again)
    return only if held and only != wrong.text else None


def _same_neighbour(
    statement: str, wrong: ProtectedValue, line: str, value: ProtectedValue
) -> bool:
    return bool(_neighbours(statement, wrong.span) & _neighbours(line, value.span))


def _neighbours(text: str, span: Span) -> set[str]:
    """The content words right before and right behind a value."""
    before = [t for t in words(text[max(0, span.start - 40) : span.start]) if is_content_word(t)]
    behind = [t for t in words(text[span.end : span.end + 40]) if is_content_word(t)]
    return {normalised_term(word) for word in before[-1:] + behind[:1]}


def missing_qualifier(statement: str, line: str) -> Restored | None:
    """The first negation or qualifier that the line has between words that both share.

    Only a few words are ever added, and only where the words around them are the same on both sides.
    """
    ours, theirs = _tokens(statement), _tokens(line)
    matcher = difflib.SequenceMatcher(
        None, [key for key, _ in ours], [key for key, _ in theirs], autojunk=False
    )
    codes = matcher.get_opcodes()
    for place, (kind, a, b, c, d) in enumerate(codes):
        if kind not in ("insert", "replace") or d - c > 4 or b - a > 3:
            continue
        before = place > 0 and codes[place - 1][0] == "equal"
        behind = place + 1 < len(codes) and codes[place + 1][0] == "equal"
        if not (before or c == 0) or not behind:
            continue
        added = line[theirs[c][1].start : theirs[d - 1][1].end]
        if not {key for key, _ in theirs[c:d]} & _QUALIFIER_KEYS or re.search(r"[.;:]", added):
            continue
        if kind == "replace" and any(_says_something(statement, ours[i][1]) for i in range(a, b)):
            continue
        behind_ours, behind_theirs = ours[b][1].cut(statement), theirs[d][1].cut(line)
        if behind_ours.lower() != behind_theirs.lower():
            # "did not differ" for "differed": the word behind takes the form that goes with it.
            span = Span(start=ours[a][1].start, end=ours[b][1].end)
            after = line[theirs[c][1].start : theirs[d][1].end]
            return Restored(span=span, after=after, added=added)
        if kind == "insert":
            at = ours[a][1].start
            return Restored(span=Span(start=at, end=at), after=added + " ", added=added)
        span = Span(start=ours[a][1].start, end=ours[b - 1][1].end)
        return Restored(span=span, after=added, added=added)
    return None


def turns(restored: Restored) -> bool:
    """Whether what was put back turns the statement into its opposite."""
    added = {word.lower() for word in words(restored.added)}
    return bool(added & _NEGATIONS)


_QUALIFIER_KEYS = frozenset(normalised_term(word) for word in _QUALIFIERS)
_WORD = re.compile(r"[^\W_]+(?:[-'’.,/%][^\W_]+)*%?")


def _tokens(text: str) -> list[tuple[str, Span]]:
    return [
        (normalised_term(match.group().lower()), Span(start=match.start(), end=match.end()))
        for match in _WORD.finditer(text)
    ]


def _says_something(text: str, span: Span) -> bool:
    """Whether a replaced word carries content of its own; auxiliaries and determiners do not."""
    word = span.cut(text)
    return is_content_word(word) and word.lower() not in ("reports", "reported", "shows", "showed")


def _unit(value: ProtectedValue) -> str:
    """What follows the amount in the normalised form: "%", "g", "mmhg"; a date's is empty."""
    if value.kind == "date":
        return ""
    return re.sub(r"^[-+]?[\d.,/]+(?:\.\.[\d.]+)?", "", value.normalised).strip()


def _date_like(wrong: str, value: ProtectedValue) -> str | None:
    """A date in the notation of the wrong one; None when it is not as precise."""
    found = re.fullmatch(r"(\d{4})(?:-(\d\d))?(?:-(\d\d))?", value.normalised)
    if found is None:
        return value.text
    year, month, day = found.groups()
    # The first name of a month is its long one.
    name = next((n.capitalize() for n, i in MONTHS.items() if month and i == int(month)), None)
    if re.fullmatch(r"\d{4}", wrong):
        return year
    if re.fullmatch(r"[A-Za-z]+\.?,?\s\d{4}", wrong):
        return f"{name} {year}" if name else None
    if day is None or name is None:
        return None
    if re.fullmatch(r"\d{1,2}\s[A-Za-z]+\.?\s\d{4}", wrong):
        return f"{int(day)} {name} {year}"
    if re.fullmatch(r"[A-Za-z]+\.?\s\d{1,2},?\s\d{4}", wrong):
        return f"{name} {int(day)}, {year}"
    if re.fullmatch(r"\d{4}-\d{2}-\d{2}", wrong):
        return f"{year}-{month}-{day}"
    return value.text
