"""Protected values: the literals of a claim, and whether a text holds them (III.2, III.4).

Amounts, dates and times are those of the one reader (``core.evidence.quantities``); here are the
literals that are compared as written (identifiers, quotations, names), and what holds a value.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property, lru_cache

from core.evidence.comparing import Amounts, halves, holds, readings_of
from core.evidence.names import (
    WEEKDAYS,
    contains,
    folded_words,
    name_runs,
    near_each_other,
    weekdays_named,
)
from core.evidence.quantities import read_quantities
from core.evidence.quantity_patterns import BEFORE
from core.evidence.quantity_records import Bound, Quantity, QuantityKind
from core.evidence.units import factor
from core.records import ProtectedValue, Span
from core.text.tokens import content_terms

_READ_WHOLE = 4_000  # characters that are searched for what speaks against a value
_MOST_PLACES = 4_000
_AROUND = 80
_SMALL_COUNT = 12
_BEFORE = 24  # characters before a number that can make it a position
_CLOSE = 1.5  # how far off a number may lie that speaks against a bound
_TELLING_DIGITS = 5  # of a bare number that is found within an identifier
_EDGE = r"(?![A-Za-z0-9_])"
_LITERAL = re.compile(
    # No value starts inside a Latin word or at white space: most places are passed over at once.
    r"(?!\s)(?:(?<![A-Za-z])|(?![A-Za-z]))(?:"
    + "|".join(
        (
            r'(?P<quoted>(?<!\w)"(?=\S)[^"\n]{2,300}"|“[^”\n]{2,300}”|«[^»\n]{2,300}»)',
            r"(?P<url>https?://[^\s<>\"')\]|]{3,2000}|www\.[^\s<>\"')\]|]{3,500})",
            r"(?P<email>(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,24}){1,4})",
            r"(?P<doi>\b10\.\d{4,9}/[^\s\"<>)\]]{2,200})",
            r"(?P<path>(?<![\w/.~])~?/[\w.@+-]{1,128}(?:/[\w.@+-]{1,128}){1,30}/?)",
            r"(?P<file>(?<![\w/.])[\w-]{1,100}\.(?:pdf|md|csv|xlsx?|pptx?|docx?|html?|png|jpe?g|svg|"
            r"json|txt|py|ts|js|wav|mp3|mp4|zip)\b)",
            r"(?P<uuid>\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b)",
            r"(?P<labelled>\b(?:PMID|MRN|ICD-10|ICD|LOINC|SNOMED|RxCUI|NPI|DIN|EIN|SSN|ISBN|"
            r"ID|CAS)(?:\s?(?:number|no\.?|code|CT|#))?\s?[:#]?\s?#?"
            r"(?P<id>(?=[A-Z0-9.-]{0,19}\d)[A-Z0-9](?:[A-Z0-9-]|\.(?=[A-Z0-9])){0,23})" + _EDGE + r")",
            r"(?P<nct>(?<![A-Za-z0-9_])(?:NCT\d{6,9}|PMC\d{4,9}|rs\d{3,12}|arXiv:\d{4}\.\d{4,5})"
            + _EDGE + r")",
            r"(?P<icd>(?<![A-Za-z0-9_])[A-TV-Z]\d{2}\.\d{1,4}[A-Z]?" + _EDGE + r")",
            r"(?P<weekday>\b(?:" + "|".join(WEEKDAYS) + r")s?\b)",
            # LOINC-like codes and words with digits: 4548-4, bench-6, HAT169, XEHM4B
            r"(?P<code>(?<![A-Za-z0-9_.])\d{4,6}-\d" + _EDGE + r")",
            r"(?P<word>(?<![A-Za-z0-9_-])(?=[A-Za-z0-9_-]{0,60}\d)(?:[A-Za-z][A-Za-z0-9]{0,40}"
            r"(?:[_-][A-Za-z0-9]{1,40}){0,8}|\d{1,4}[A-Z]{1,10}[A-Z0-9]{1,20})(?![A-Za-z0-9_]))",
        )
    )
    + ")",
    re.IGNORECASE,
)  # fmt: skip
_AS_FAR_AS = ("url", "doi", "path")  # literals that swallow the punctuation behind them
_PATIENT_ID = re.compile(r"(?i)(?:bench|patient|pat|pt|mrn|subject|case|person|member)[-_]?\d+")
_IDENTITY_LABEL = re.compile(r"(?i)(?:PMID|MRN|ID|SSN)")
# Words with digits that name things: their digits say nothing that could be checked by itself.
_NOT_IDENTIFIERS = re.compile(
    r"(?:covid|sars|mers|omega|type|phase|stage|grade|class|day|week|month|year|top|step|line|part|"
    r"tier|level|vitamin|interleukin|factor|group|arm|cohort|figure|fig|table|section|chapter|"
    r"windows|ios|web|python|gpt|llama|claude|gemini|pre|post|non|mid|sub|co|age|aged|under|over|"
    r"twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)-.*",
    re.IGNORECASE,
)
_GENE = re.compile(
    r"(?:CYP|UGT|SLC|ABC|HLA|IL|CD|TNF|KCN|SGLT|DPP|GLP|PCSK|BRCA|MTHFR|ACE|H\dN)\w*"
)
_DOSES = frozenset({"iu", "u", "meq"})
# A number at the front of a line, behind a "#", in brackets or behind "row" says which one.
_INDEX = re.compile(
    r"\n[\s\-*•>|(\[]*¤\s*[.):\]|]|[^:=,\[\s]\s*\[¤\]"
    r"|\b(?:row|item|entry|line|no|nr|record|index|ref|reference)\.?\s*#?¤",
    re.IGNORECASE,
)


def protected_values(text: str) -> tuple[ProtectedValue, ...]:
    """The literals of ``text`` that may not be lost, in order and without overlap; spans in ``text``.

    A run of capitalised words counts as a name unless it opens a sentence (Appendix B and C).
    """
    found = [item.value for item in _values(text)]
    found += [
        name
        for name in name_runs(text)
        if not any(name.span.overlaps(value.span) for value in found)
    ]
    return tuple(sorted(found, key=lambda value: value.span.start))


class ReadText:
    """A text whose quantities are read once, when they are first asked for."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def amounts(self) -> Amounts[Quantity]:
        """The quantities of the text and the halves of its pairs, sorted."""
        read = read_quantities(self.text)
        pairs = (item for item in read if item.kind is QuantityKind.PAIR)
        found = (*read, *(half for pair in pairs for half in halves(pair)))
        return Amounts((item, item) for item in found)


_read_text = lru_cache(maxsize=64)(ReadText)


def value_present(value: ProtectedValue, there: ReadText | str) -> bool:
    """Whether a text holds the value in any notation, on token boundaries (III.4).

    Units must be compatible where both sides name one; a range is held when both of its ends are.
    """
    text = there if isinstance(there, str) else there.text
    if value.kind in ("name", "quoted"):
        return _words_present(value, text)
    if value.kind == "identifier":
        return _literally(value.normalised, text)
    weekday = value.normalised in WEEKDAYS
    wanted = () if weekday else read_quantities(value.text)
    if not weekday and (not wanted or len(readings_of(wanted[0])) > 1):
        return _literally(value.text, text)
    amounts = (_read_text(there) if isinstance(there, str) else there).amounts
    if weekday:
        return on_weekday(
            WEEKDAYS.index(value.normalised), text, (item for item, _ in amounts.dated)
        )
    return all(_held(want, amounts, text) for want in wanted)


def on_weekday(day: int, text: str, dated: Iterable[Quantity]) -> bool:
    """Whether a text names a weekday (Monday 0), also short, or has a whole date that is one."""
    return day in weekdays_named(text) or any(
        item.date is not None and item.date.weekday == day for item in dated
    )


def value_spans(value: ProtectedValue, text: str) -> tuple[Span, ...]:
    """Where the text holds the value, in whatever way it is written: 5463 is in "5,463"."""
    return tuple(each.span for each in protected_values(text) if value_present(value, each.text))


def settles(value: ProtectedValue, premise_text: str) -> bool:
    """Whether the premise's lack of a value by itself says that the claim is not supported (III.4).

    Not for a name of no patient or record, a small count in words, or a bound that nothing close by
    fails: a source may say them in other words, so their absence only lowers the support.
    """
    if value.identity or value.kind == "quoted":
        return True
    wanted = read_quantities(value.text)
    if value.kind == "name" or not wanted:
        return value.kind != "name"
    want = wanted[0]
    if want.until is not None:  # a decade
        return False
    if want.bound is not Bound.EXACT:
        there = read_quantities(premise_text[:_READ_WHOLE])
        return any(
            item.unit == want.unit
            and item.kind is want.kind
            and want.amount / _CLOSE <= item.amount <= want.amount * _CLOSE
            for item in there
        )
    return not (want.in_words and want.unit is None and want.amount <= _SMALL_COUNT)


def nearest_value(value: ProtectedValue, premise_text: str, said: str = "") -> str | None:
    """The premise's value that a reviewer would set beside ``value``, as written; None without one.

    An amount is set beside amounts in its unit alone: first those whose clause shares most words with
    ``said``, what the claim says (the dose of the same drug), then the one that differs least. Only the
    first 20,000 characters of a premise are searched: it is a help for a person.
    """
    premise_text = premise_text[:20_000]
    if value.kind == "name":
        names = [name.text for name in name_runs(premise_text, opening_too=True)]
        return _most_alike(value.text, [name for name in names if _share_word(name, value.text)])
    items = _values(premise_text)
    want = next(iter(read_quantities(value.text)), None)
    if want is None or value.kind in ("identifier", "date", "time"):
        return _most_alike(
            value.text, [item.value.text for item in items if item.value.kind == value.kind]
        )
    terms = content_terms(said) - content_terms(value.text)
    ranked = []
    for item in items:
        have = item.quantity
        by = factor(have.unit or "", want.unit or "") if have is not None else None
        if have is not None and by is not None and have.kind is want.kind:
            near = terms & content_terms(_clause_of(item.value.span, premise_text))
            ranked.append((-len(near), abs(have.amount * by - want.amount), item.value.text))
    return min(ranked, key=lambda each: each[:2])[2] if ranked else None


_CLAUSE_ENDS = re.compile(r"[;\n]|[.,](?=\s)")


def _clause_of(span: Span, text: str) -> str:
    """The clause, line or item of a list that a value stands in."""
    first = max(0, span.start - 200)
    before = [match.end() for match in _CLAUSE_ENDS.finditer(text, first, span.start)]
    after = _CLAUSE_ENDS.search(text, span.end)
    return text[before[-1] if before else first : after.start() if after else None]


def names_in(text: str) -> tuple[ProtectedValue, ...]:
    """Every run of capitalised words, those that open a sentence too; ``identity`` marks cued people."""
    return tuple(name_runs(text, opening_too=True))


# ---------------------------------------------------------------- what is a value


@dataclass(frozen=True, slots=True, kw_only=True)
class _Value:
    """One value of a text, and what was read of it where it is no literal."""

    value: ProtectedValue
    quantity: Quantity | None = None


@lru_cache(maxsize=512)
def _values(text: str) -> tuple[_Value, ...]:
    """The values of a text but its names, in order; no amount is read inside a literal."""
    literals = [found for match in _LITERAL.finditer(text) if (found := _literal(match))]
    items = [_Value(value=found) for found in literals]
    at = 0
    for item in read_quantities(text):
        while at < len(literals) and literals[at].span.end <= item.span.start:
            at += 1
        inside = at < len(literals) and literals[at].span.start < item.span.end
        if not inside and not _says_little(item):
            items.append(_Value(value=_amount(item, text), quantity=item))
    return tuple(sorted(items, key=lambda each: each.value.span.start))


def _says_little(item: Quantity) -> bool:
    """Whether a quantity is an article ("an hour", "one of them"), "twice", or a month without a year."""
    if item.date is not None:
        return item.date.year is None and item.date.day is None
    word = item.text.split()[0].casefold()
    return word == "twice" or (
        item.amount == 1 and (word in ("a", "an") or item.unit is None) and item.in_words
    )


def _amount(item: Quantity, text: str) -> ProtectedValue:
    """A quantity as a value: with its sign, and the words that make it a bound."""
    start = item.span.start - (item.signed and item.span.start > 0)
    bound = BEFORE.search(text, max(0, start - 24), start)
    span = Span(start=bound.start() if bound else start, end=item.span.end)
    kind, unit = _kind(item), item.unit
    if item.date is not None:
        normalised = item.text if len(readings_of(item)) > 1 or item.until else str(item.date)
    elif kind == "time":
        normalised = f"{int(item.amount) // 60:02d}:{int(item.amount) % 60:02d}"
    else:
        joint = "/" if item.kind is QuantityKind.PAIR else ".."
        ends = [item.amount] if item.high is None else [item.amount, item.high]
        unit = "%" if kind == "percent" else f" {unit.casefold()}" if unit else ""
        normalised = joint.join(_plain(end) for end in ends) + unit
    return ProtectedValue(text=span.cut(text), span=span, kind=kind, normalised=normalised)


def _kind(item: Quantity) -> str:
    named = {QuantityKind.MONEY: "currency", QuantityKind.DATE: "date", QuantityKind.CLOCK: "time"}
    if item.kind in named:
        return named[item.kind]
    if item.unit == "percent":
        return "percent"
    head = (item.unit or "").partition(" / ")[0]
    measured = ("gram", "liter", "mole")
    dosed = head != "kilogram" and any(factor(head, base) is not None for base in measured)
    return "dose" if head and (head in _DOSES or dosed) else "number"


def _plain(amount: float) -> str:
    return format(Decimal(repr(amount)).normalize(), "f")


def _literal(match: re.Match[str]) -> ProtectedValue | None:
    group, raw = match.lastgroup or "", match.group()
    start, kind, identity = match.start(), "identifier", False
    if group == "id":
        group = "labelled"
    if group == "quoted":
        inner = raw[1:-1].strip().strip(".,;")
        # A quotation mark can also be an inch sign: 6.3" and 6.9".
        if not inner or re.match(r"\s|[,.)]", raw[1:]):
            return None
        return _as_written(start, raw, "quoted", " ".join(folded_words(inner)))
    if group == "weekday":
        return _as_written(start, raw, "date", raw.casefold().removesuffix("s"))
    if group == "word" and not (
        _is_identifier(raw) if raw[0].isalpha() else not read_quantities(raw)
    ):
        return None
    if group in _AS_FAR_AS:
        raw = raw.rstrip(".,;:!?*")
    normalised = raw.casefold()
    if group == "labelled":
        identity, normalised = bool(_IDENTITY_LABEL.match(raw)), match["id"].casefold()
        if re.match(r"(?i)id\b", raw) and re.search(r"[A-Za-z]", match["id"]):
            start, raw = match.start("id"), match["id"]  # a record's id names it without the label
    identity = identity or group in ("nct", "doi") or bool(_PATIENT_ID.fullmatch(raw))
    return _as_written(start, raw, kind, normalised, identity)


def _as_written(
    start: int, raw: str, kind: str, normalised: str, identity: bool = False
) -> ProtectedValue:
    span = Span(start=start, end=start + len(raw))
    return ProtectedValue(text=raw, span=span, kind=kind, normalised=normalised, identity=identity)


def _is_identifier(word: str) -> bool:
    if _NOT_IDENTIFIERS.fullmatch(word) or _GENE.fullmatch(word):
        return False
    if "-" in word or "_" in word:
        head, _, tail = word.replace("_", "-").rpartition("-")
        if not any(character.isdigit() for character in tail):
            return sum(character.isdigit() for character in word) >= 3 and not head.islower()
        # bench-6 is a record, IL-6 and SARS-CoV-2 are names of things.
        return word[0].islower() or len(tail) >= 3
    digits = sum(character.isdigit() for character in word)
    if word != word.upper():
        return False
    return digits >= 3 or (len(word) >= 6 and digits >= 1 and bool(re.search(r"[A-Z]{2}", word)))


# ---------------------------------------------------------------- what holds one


def _held(want: Quantity, there: Amounts[Quantity], text: str) -> bool:
    """Whether one of a text's quantities holds a value, or two its ends."""
    if want.kind is QuantityKind.DATE:
        return any(True for _ in there.on_day(want))
    if any(_states(have, want, text) for have, _ in there.near(want)):
        return True
    if want.high is not None:
        first, second = halves(want)
        turned = replace(want, amount=second.amount, high=first.amount)  # 80/120 holds no 120/80
        in_two = not any(True for _ in there.near(turned))
        return in_two and _held(first, there, text) and _held(second, there, text)
    if want.kind is QuantityKind.ORDINAL:  # "the 27th" is a day
        return any(item.date and item.date.day == want.amount for item, _ in there.dated)
    # 92660418 in "PMID 92660418"
    return want.digits >= _TELLING_DIGITS and want.text.isdecimal() and _literally(want.text, text)


def _states(have: Quantity, want: Quantity, text: str) -> bool:
    """Whether a quantity of a text is a claim's: a whole number without a unit is never rounded."""
    if want.unit is None:
        exact = abs(want.amount) in (abs(have.amount), have.high)
        if have.date is not None:  # "2056 participants" reads as a year
            return exact and have.date.month is None
        near = exact or want.step < 1 or want.bound is not Bound.EXACT
        return near and have.unit != "percent" and holds(have, want)
    if have.unit is None:
        start, end = have.span.start, have.span.end
        around = f"{text[max(0, start - _BEFORE) : start]}¤{text[end : end + 2]}"
        if have.noun or want.in_words or have.kind is QuantityKind.ORDINAL:
            return False
        if _INDEX.search(around if start > _BEFORE else f"\n{around}"):
            return False
    return holds(have, want)


def _words_present(value: ProtectedValue, text: str) -> bool:
    """Whether a name stands in the text in any order, or a quotation word for word."""
    words = folded_words(value.normalised)
    if not words:
        return True
    found = near_each_other if value.kind == "name" else _in_order
    if len(text) <= _READ_WHOLE:
        return found(words, folded_words(text))
    longest = max(words, key=len)
    reach = 3 * len(value.normalised) + 2 * _AROUND
    stem = re.escape(re.sub(r"\d+\Z", "", longest) or longest)
    for count, match in enumerate(re.finditer(stem, text, re.IGNORECASE)):
        if count >= _MOST_PLACES:
            break
        around = text[max(0, match.start() - reach) : match.end() + reach]
        if found(words, folded_words(around)):
            return True
    return False


def _in_order(words: tuple[str, ...], held: tuple[str, ...]) -> bool:
    return contains(held, words)


def _literally(needle: str, text: str) -> bool:
    """Whether a literal stands in the text with no letter or digit touching it."""
    behind = "" if needle.casefold().startswith("http") else r"(?![-.][^\W_])"
    pattern = rf"(?<![^\W_]){re.escape(needle)}(?![^\W_]){behind}"
    return re.search(pattern, text, re.IGNORECASE) is not None


def _share_word(one: str, other: str) -> bool:
    return bool({*folded_words(one)} & {*folded_words(other)})


def _most_alike(text: str, others: list[str]) -> str | None:
    """The most similar of the first few hundred candidates; earlier ones win ties."""
    scored = [
        (difflib.SequenceMatcher(None, text.casefold(), other.casefold()).ratio(), -index, other)
        for index, other in enumerate(others[:300])
    ]
    best = max(scored, default=None)
    return best[2] if best is not None and best[0] > 0.3 else None
