"""What charts give for a measurement that a claim states: "His ferritin is 64 ug/L", latest or dated."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import lru_cache

from core.evidence.chart.entries import Chart
from core.evidence.chart.labels import attribute_of, measured_as, section_subject, words_of
from core.evidence.chart.names import words_in
from core.evidence.chart.people import words_of_name
from core.evidence.chart.phrases import person_spans, without_lead
from core.evidence.chart.quantities import find_dates, same_date
from core.evidence.chart.records import Measured, Reading, Row, Subject, When
from core.evidence.chart.status import status_of_code
from core.records import Check, FactPlace, Outcome, Span

_UNIT = r"%|°?[A-Za-zµμ/][\w/^*.²³µμ]*(?:\s?/\s?[\w.^*²]+)*|10[*^]9/L"
_NUMBER = r"[<>]?\d+(?:\.\d+)?"
# Article or owner, "latest", the name, what it is called, a date, the verb, the value, its unit, a date.
_CLAIM = re.compile(
    rf"(?:[Tt]he|[Aa]n?|[Hh]is|[Hh]er|[Tt]heir|(?:[A-Z][\w.'’-]* )+?(?:has )?an?|[\w.'’ -]{{1,60}}?['’]s|"
    rf"(?:[Hh]e|[Ss]he|[\w.'’ -]{{1,60}}?) has (?:an?|the|had an?))?\s*"
    rf"(?P<last>(?:(?:current|latest|last|recent|most|newest|recorded|measured)\s+)*)"
    rf"(?P<name>[A-Za-z][\w%+./-]*(?: [A-Za-z0-9][\w%+./-]*){{0,4}}?)"
    rf"(?:\s+(?:level|result|value|reading|count|score|measurement))*"
    rf"(?P<first>\s+(?:on|in|from|of|dated)\s+[\w /,.-]*?\d{{1,4}}[\w /,.-]*?)?"
    rf"\s+(?:was|is|of|stands at|stood at|measured|came (?:back )?(?:at|as|out at)|read|reads|result was|"
    rf"result is)\s+(?P<value>{_NUMBER})(?:\s?(?P<unit>{_UNIT}))??"
    rf"(?P<second>\s+(?:on|in|from|dated)\s+[\w /,.-]*?\d{{1,4}}[\w /,.-]*?)?\s*\.?\s*\Z"
)
_VALUE = re.compile(rf"(?<![\w.,/-])(?P<value>{_NUMBER})(?![\d/:]|\.\d|-\d)\s?(?P<unit>{_UNIT})?")
_UNIT_BEHIND = re.compile(r"\s*\([^()]*\)\s*\Z|[\s*]+\Z")
_GAP = re.compile(r"[\s:=|,;(*_~-]*(?:(?:is|was|of|at|now|level|result)\s)?[\s:=|*_~]*")
_TAKEN_BACK = re.compile(
    r"error|haemolysed|hemolysed|invalid|cancel|preliminary|corrected\b|amended|target|goal|wrong|repeat|"
    r"reference|expected|limit|threshold|\bif\b|\bun?til\b",
    re.IGNORECASE,
)
# Where what is said of the next measurement begins.
_NEXT = re.compile(
    r";|\.\s|,\s+(?!(?:was|were|from|previously|previous|prior|before|down|up|then|now)\b)"
    r"(?=[A-Za-z][\w ]{0,25}?[\s:=]+[<>]?\d)"
)
_WORD_BEFORE = re.compile(r"[A-Za-z][\w-]*\s\Z")
_VERB_BEFORE = re.compile(
    r"(?:was|is|showed|shows|with|and|the|latest|his|her|of|today|last|current)\s\Z"
)
_BESIDE = frozenset("id no row seq age encounter reference range low high time".split())
_MOST_ROW = 400  # characters of a row that is about one measurement


def lab_checks(text: str, charts: Sequence[Chart]) -> Iterator[Check]:
    """Whether the charts give the measurement that value: latest where it is said to be, or dated so."""
    said = _CLAIM.fullmatch(_plain(text, charts))
    if said is None or len(charts) != 1:
        return
    forms, value = _forms(said["name"].strip()), said["value"]
    readings = list(_readings(charts[0], forms, value))
    readings = [one for one in readings if _same_unit(one.unit, said["unit"])]
    if not readings:
        return
    dates = list(find_dates(f"{said['first'] or ''} {said['second'] or ''}"))
    if (said["first"] or said["second"]) and not dates:
        return
    dated = [one for one in readings if one.date and all(same_date(day, one.date) for day in dates)]
    meant = dated if dates else readings
    equal = [one for one in meant if _is_value(one, value)]
    latest = _latest(readings)
    span = Span(start=0, end=len(text))
    called = said["name"].strip()
    if meant and not equal and all(one.sure for one in meant):
        given = ", ".join(dict.fromkeys(f"{one.bound}{one.amount}" for one in meant))
        reason = f"The source gives {called} as {given}, not {said['value']}."
        yield _check(Outcome.CONTRADICTS, reason, span, meant)
    elif equal and all(one.void for one in equal):
        yield _check(
            Outcome.CONTRADICTS, f"{called} {said['value']} is void in the chart.", span, equal
        )
    elif said["last"] and not dates and not equal and any(one.earlier for one in meant):
        now = next(one for one in meant if one.earlier)
        reason = (
            f"The source gives {called} as {now.amount}, and {said['value']} as an earlier value."
        )
        yield _check(Outcome.CONTRADICTS, reason, span, [now])
    elif equal and said["last"] and not dates and latest is not None and latest not in equal:
        when = latest.date.text if latest.date else "the last date"
        reason = f"The latest {called} is {latest.amount} ({when}), not {said['value']}."
        yield _check(Outcome.CONTRADICTS, reason, span, [latest])
    elif (
        equal
        and all(one.sure for one in readings)
        and (len({one.amount for one in meant}) == 1 or (not dates and latest in equal))
    ):
        reason = f"The source gives {called} as {said['value']}."
        yield _check(Outcome.SUPPORTS, reason, span, equal)


def _check(outcome: Outcome, reason: str, span: Span, readings: Sequence[Reading]) -> Check:
    against = outcome is Outcome.CONTRADICTS
    return Check(
        check="lab" if against else "status", outcome=outcome, reason=reason, veto=against,
        claim_span=span, facts=tuple(one.place for one in readings)[:5],
        binding=None if against else 1.0,
    )  # fmt: skip


def _plain(text: str, charts: Sequence[Chart]) -> str:
    """The claim without what leads up to it, its patient as "he has" or "his"."""
    plain = without_lead(text).strip()
    for span in person_spans(plain):
        if span.start == 0:
            owner = span.cut(plain)[-2:] in ("'s", "’s")
            return ("His" if owner else "He") + plain[span.end :]
    words = frozenset[str]().union(*(words_of_name(who) for c in charts for who in c.patients))
    match = re.match(
        r"(?P<who>(?:(?:Mr|Mrs|Ms|Miss)\.? )?(?:[A-Z][\w-]+ ?)+?)(?P<own>['’]s)?\s", plain
    )
    if match is not None and words_of_name(match["who"]) and words_of_name(match["who"]) <= words:
        return ("His " if match["own"] else "He ") + plain[match.end() :]
    return plain


@lru_cache(maxsize=1024)
def _forms(name: str) -> re.Pattern[str]:
    """The measurement's name as records write it, whole."""
    forms = "|".join(
        re.escape(form) if len(form) < 3 else rf"(?i:{re.escape(form)}s?)"
        for form in measured_as(name)
    )
    return re.compile(rf"(?<![\w-])(?:{forms})(?!\w)")


def _is_value(one: Reading, value: str) -> bool:
    """Whether a reading is the claim's value as far as the claim writes it out (184.88 is 185)."""
    claimed = Decimal(value.lstrip("<>"))
    exponent = claimed.as_tuple().exponent
    step = Decimal(1).scaleb(exponent if isinstance(exponent, int) else 0)
    same = one.amount == claimed or (
        step < 10 and abs(one.amount - claimed) <= step / 2 < abs(claimed)
    )
    return same and one.bound == (value[0] if value[0] in "<>" else "")


def _same_unit(one: str, other: str | None) -> bool:
    return not one or not other or _unit(one) == _unit(other)


def _unit(text: str) -> str:
    return re.sub(r"[µμ]", "u", re.sub(r"[\s^*]", "", text)).casefold().rstrip(".")


def _latest(readings: Sequence[Reading]) -> Reading | None:
    """The reading of the latest day; None where one has no day, or two share the latest."""
    readings = [one for one in readings if one.date is not None] or readings
    days = [one.date for one in readings]
    if any(day is None or day.month is None or day.others for day in days):
        return readings[0] if len(readings) == 1 else None
    keys = [(d.year, d.month or 0, d.day or 0) for d in days if d is not None]
    top = max(keys)
    at_top = [one for one, key in zip(readings, keys, strict=True) if key == top]
    return at_top[0] if len({one.amount for one in at_top}) == 1 else None


# ---------------------------------------------------------------- readings of a row


def _readings(chart: Chart, forms: re.Pattern[str], value: str) -> Iterator[Reading]:
    """What all rows give for the measurement; of thousands of rows few name it and are read further."""
    named = {label for label in chart.labels if forms.search(label)}
    for at, row in enumerate(chart.rows):
        if not (
            forms.search(row.text)
            or "\\" in row.text  # an escape may hide a letter
            or (named and any(field.label in named for field in row.fields))
        ):
            continue
        if at not in chart.measured:
            chart.measured[at] = tuple(_measured(chart, row))
        yield from _field_readings(chart.measured[at], forms)
        for text in [field.text for field in row.fields] or [row.text]:
            yield from _text_readings(chart, row, text, forms, value)


def _text_readings(
    chart: Chart, row: Row, text: str, forms: re.Pattern[str], value: str
) -> Iterator[Reading]:
    for place in list(forms.finditer(text))[:4]:
        gap = _GAP.match(text, place.end())
        found = _VALUE.match(text, gap.end() if gap else place.end())
        if found is None or _qualified(text[: place.start()]):
            continue
        stretch = _NEXT.split(text[found.end() :], maxsplit=1)[0]
        date = next(find_dates(stretch), None)
        # "eGFR 41, was 52 in January": the claim's value is an earlier one.
        sure = not _TAKEN_BACK.search(stretch) and value not in stretch
        made = _reading(chart, row, found["value"], found["unit"] or "", date, sure=sure)
        yield replace(made, earlier=_is_earlier(value, stretch))


def _measured(chart: Chart, row: Row) -> Iterator[Measured]:
    """The fields of a row, each with the value that it gives where it gives one."""
    days: dict[str, When] = {}
    for field in row.fields:
        for day in () if _is_birth(field.label) else _date_of(field.text):
            days.setdefault(field.label.rpartition(".")[0], day)
    unit = _unit_beside(row)
    void = any(_ends(f.text) for f in row.fields if attribute_of(f.label) == "status")
    sure = len(row.text) <= _MOST_ROW and not _TAKEN_BACK.search(row.text) and not void
    for field in row.fields:
        path, _, label = field.label.rpartition(".")
        found, reading = _VALUE.match(field.text.strip()), None
        if found is not None and not re.fullmatch(_UNIT, field.text.strip()):
            told = (*find_dates(field.label), *find_dates(field.text[found.end() :]))
            date = told[0] if told else days.get(path)
            made = _reading(chart, row, found["value"], found["unit"] or unit, date, sure=sure)
            reading = replace(made, void=void)
        yield Measured(
            label=label,
            name=_UNIT_BEHIND.sub("", field.text),
            keyed_only=_is_beside(field.label) or bool(_date_of(field.text)),
            reading=reading,
        )


def _field_readings(measured: Sequence[Measured], forms: re.Pattern[str]) -> Iterator[Reading]:
    own = next((f for f in measured if forms.fullmatch(f.name)), None)
    keyed = [f for f in measured if forms.fullmatch(f.label)]
    if own is not None or keyed:
        for each in keyed or measured:
            if each is not own and each.reading is not None and (keyed or not each.keyed_only):
                yield each.reading


def _is_earlier(value: str, stretch: str) -> bool:
    """Whether what follows a value tells another one as the one before it: "41, was 52 in January"."""
    before = r"\b(?:was|were|from|previously|previous|prior|prev|before|baseline|against)\b"
    return re.search(rf"{before}\W+(?:\w+\W+)?{re.escape(value)}(?![\w.]*\d)", stretch) is not None


def _ends(text: str) -> bool:
    code = status_of_code(text)
    return code is not None and code.value in ("entered in error", "cancelled")


def _date_of(text: str) -> list[When]:
    return [day for day in find_dates(text) if day.month is not None]


@lru_cache(maxsize=4096)
def _is_birth(label: str) -> bool:
    return bool({"dob", "birth", "born"} & set(words_of(label)))


@lru_cache(maxsize=4096)
def _is_beside(label: str) -> bool:
    """Whether a label is that of a number, of a day or of something else than the value."""
    aside = not _BESIDE.isdisjoint(words_of(label))
    return aside or attribute_of(label) in ("start", "end", "status", "subject")


def _unit_beside(row: Row) -> str:
    for field in row.fields:
        if words_of(field.label)[-1:] in (("unit",), ("units",), ("uom",), ("u",)):
            return field.text.strip()
    return ""


def _qualified(before: str) -> bool:
    """Whether a word before the name makes it another measurement ("LDL cholesterol")."""
    return _WORD_BEFORE.search(before) is not None and _VERB_BEFORE.search(before) is None


def _reading(
    chart: Chart, row: Row, value: str, unit: str, date: When | None, *, sure: bool
) -> Reading:
    return Reading(
        amount=Decimal(value.lstrip("<>")).normalize(),
        bound=value[0] if value[0] in "<>" else "",
        unit=unit,
        date=date,
        place=FactPlace(source_id=chart.source.source_id, span=row.span),
        sure=sure,
    )


_TEST = (
    r"(?:antibody |antigen |screening |blood )?(?:tests?|testing|screen(?:ing)?|swab|result|serology|"
    r"antigen|antibody|PCR|culture)"
)
_RESULT = r"(?:negative|not detected|non-reactive)"
_OWNER = r"(?:(?:[Hh]is|[Hh]er|[Tt]heir|[Tt]he|[\w.'’ -]{1,40}?['’]s)\s+)?"
_CLAIMS = (
    re.compile(
        rf"{_OWNER}(?P<name>[A-Za-z][\w /-]{{1,40}}?)(?:\s+{_TEST})*\s+(?:was|were|is|came back|returned) "
        rf"{_RESULT}(?:\s+(?:on|by)\s+(?:the\s+)?(?P<by>[\w-]+))?\s*\.?"
    ),
    re.compile(
        r"(?:[Hh]e|[Ss]he|[A-Z][\w.'’ -]{1,40}?)\s+(?:screened|tested|tests|screens)\s+negative\s+for\s+"
        r"(?P<name>[A-Za-z][\w /-]{1,40}?)(?:\s+(?:on|by)\s+(?:the\s+)?(?P<by>[\w-]+))?\s*\.?"
    ),
)
_NEGATIVE = re.compile(r"\b(?:negative|neg|not detected|non-reactive)\b", re.IGNORECASE)
_OTHERWISE = re.compile(
    r"\bpositive\b|\bpos\b|(?<!not )\bdetected\b|(?<!non-)\breactive\b|\bequivocal\b|\bnot (?:yet )?done\b|"
    r"\bpending\b|\berror\b|\bif\b|\brepeat\b|\btemplate\b|\bawaited\b|\bprevious\w*\b",
    re.IGNORECASE,
)
_PLAIN = frozenset("test testing screen screening swab result antibody antigen ab ag".split())
_MOST_TEST_ROW = 300  # characters of a row of fields that is about one test


def screen_checks(text: str, charts: Sequence[Chart]) -> Iterator[Check]:
    """A check that the one chart has that negative result, where nothing in it says otherwise."""
    plain = without_lead(text).strip()
    said = next((match for claim in _CLAIMS if (match := claim.fullmatch(plain))), None)
    if said is None or len(charts) != 1:
        return
    name = {word.text for word in words_in(said["name"])} - _PLAIN
    by = {word.text for word in words_in(said["by"] or "")}
    if not name:
        return
    places = []
    for row in charts[0].rows:
        for stretch in _stretches(row):
            words = {word.text for word in words_in(stretch)}
            numbers = re.findall(r"[\w-]*\d[\w-]*", said["name"])
            if not name <= words or any(number not in stretch for number in numbers):
                continue
            if _OTHERWISE.search(stretch) or section_subject(row.section) is not Subject.PATIENT:
                return
            if by <= words and _NEGATIVE.search(stretch):
                places.append(FactPlace(source_id=charts[0].source.source_id, span=row.span))
    if places:
        yield Check(
            check="status", outcome=Outcome.SUPPORTS, binding=1.0, facts=tuple(places[:5]),
            claim_span=Span(start=0, end=len(text)),
            reason=f"The source gives {said['name'].strip()} as negative.",
        )  # fmt: skip


def _stretches(row: Row) -> list[str]:
    if row.fields and len(row.text) <= _MOST_TEST_ROW:
        return [row.text]
    return re.split(r"[;,\n]\s*|\.\s", row.text)
