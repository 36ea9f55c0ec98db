"""Wrong credits planted in whole answers, each with its right twin (IV.7, made harder).

A probe is a captured answer in which one sentence credits a place of the same trace that does not
say it; the twin credits the place that does, in the same words. Where the author's own credit is
replaced, the twin is the answer as it was captured.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from core.attribution.families import Families
from core.errors import InputError
from core.evaluation.origins import Origin, Swap, origins_of, swaps
from core.evaluation.packets import PacketRow
from core.evaluation.planted_facts import PlantedFact, holds_all, labelled_facts, valued_facts
from core.records import Span, Trace

SEED = 20260607
# Sentences that speak of sources already: another credit in them would be two.
_CREDITS_ALREADY = re.compile(
    r"\b(?:according|per|papers?|stud(?:y|ies)|trials?|reviews?|authors?|articles?|abstracts?|"
    r"literature|publi\w+|reports?|reported|records?|recorded|charts?|charted|notes?|found|shows?|"
    r"showed|says?|states?|lists?|listed|results?|outputs?|data|documents?|letters?|labels?|pages?|"
    r"logs?|files?|pmid|pubmed|source|search\w*|database|registry|guidelines?|labs?)\b|\d{7,9}|`|\]\(|\[\d+\]",
    re.IGNORECASE,
)
_MAY_BE_LOWERED = frozenset(
    "the a an in on at for of by from over during among after before with without between under "
    "his her their its he she they it there this that these those both all no one two three four "
    "most some many each neither only about nearly roughly".split()
)
_BRACKETS = re.compile(r"[(\[][^()\[\]]*[^\W\d][^()\[\]]*[)\]]")  # "[3]" is a mark, and stays
_PREPOSITION = re.compile(r"(?:according to|per|based on)\s", re.IGNORECASE)
_SAYING = re.compile(  # never "on the problem list"
    r".+\s(?P<verb>shows|says|states|notes|reports|describes|lists|gives|adds|found)"
)
_BARE_PMID = re.compile(r"PMID:? ?\d{5,9}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Planted:
    """A probe and its twin: two answers that differ in the words of one sentence.

    ``wrong_sentence`` and ``right_sentence`` are in their answers; ``form`` is how the credit stands.
    """

    probe_id: str
    trace_id: str
    kind: str
    direction: str
    form: str
    credited: str
    wrong_answer: str
    wrong_sentence: Span
    right_answer: str
    right_sentence: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """A sentence of a trace and one way to credit it wrongly."""

    trace: Trace
    fact: PlantedFact
    swap: Swap


def plant(
    traces: Sequence[Trace],
    labels: Mapping[str, Sequence[PacketRow]] | None,
    families: Families,
    *,
    count: int,
    seed: int = SEED,
) -> list[Planted]:
    """At most ``count`` probes, each sentence used once, the kinds and directions as even as they can be.

    With ``labels`` (rows by trace) the facts are those that people labelled; without, those that
    exact values name. Raises InputError where nothing can be planted.
    """
    rng = random.Random(seed)
    groups: dict[tuple[str, str, bool], list[_Place]] = {}
    for trace in traces:
        rows = None if labels is None else labels.get(trace.trace_id, ())
        for place in _places(trace, rows, families):
            key = (place.swap.kind, place.swap.direction, bool(place.fact.credits))
            groups.setdefault(key, []).append(place)
    for places in groups.values():
        rng.shuffle(places)
    made: list[Planted] = []
    used: set[tuple[str, Span]] = set()
    while len(made) < count and any(groups.values()):
        for key in sorted(groups):
            found = _next(groups[key], used, len(made), rng)
            if found is not None and len(made) < count:
                made.append(found)
    if not made:
        raise InputError(
            "nothing to plant: no sentence of these answers could be told to be from one source, "
            "with another source of the same trace to credit"
        )
    return made


def _next(
    places: list[_Place], used: set[tuple[str, Span]], number: int, rng: random.Random
) -> Planted | None:
    """The next of a group that can be planted, in a sentence that no other probe has."""
    while places:
        place = places.pop()
        at = (place.trace.trace_id, place.fact.sentence)
        planted = None if at in used else _planted(place, f"probe-{number + 1:04d}", rng)
        if planted is not None:
            used.add(at)
            return planted
    return None


def _places(trace: Trace, rows: Sequence[PacketRow] | None, families: Families) -> Iterator[_Place]:
    origins = origins_of(trace, families)
    facts = valued_facts(trace, origins) if rows is None else labelled_facts(trace, rows, origins)
    may_be_credited = _credited_at_all(origins, rows)
    for fact in facts:
        text = fact.sentence.cut(trace.answer or "")
        # Labels do not tell every word that credits; where they tell of one, that one is replaced.
        if len(fact.credits) > 1 or (not fact.credits and _CREDITS_ALREADY.search(text)):
            continue
        for swap in swaps(fact.origin, may_be_credited, families):
            # Two calls may share a name: none that the wrong name means may hold the values.
            meant = [one for one in origins if one == swap.wrong or _same_name(one, swap.wrong)]
            if not any(holds_all(fact.values, one) for one in meant):
                yield _Place(trace=trace, fact=fact, swap=swap)


def _same_name(one: Origin, other: Origin) -> bool:
    return one.part is None and other.part is None and one.own_name == other.own_name


def _credited_at_all(
    origins: tuple[Origin, ...], rows: Sequence[PacketRow] | None
) -> tuple[Origin, ...]:
    """With labels, the sources that some claim of the answer rests on: those that a writer had in mind."""
    if rows is None:
        return origins
    named = {source_id for row in rows for source_id in row.gold_source_ids}
    return tuple(
        one
        for one in origins
        if one.source_id in named or one.source_id.rpartition("#")[2] in named
    )


def _planted(place: _Place, probe_id: str, rng: random.Random) -> Planted | None:
    answer, fact, swap = place.trace.answer or "", place.fact, place.swap
    text = fact.sentence.cut(answer)
    if fact.credits:
        form, wrong, right = "replaced", replaced(text, fact.credits[0], swap), text
    else:
        if _names_itself(text, swap):
            return None
        form, template = _template(text, rng)
        wrong = _filled(template, swap.wrong_name)
        right = _filled(template, swap.right_name)
    if wrong is None or wrong == right:
        return None
    wrong_answer, wrong_at = _put(answer, fact.sentence, wrong)
    right_answer, right_at = _put(answer, fact.sentence, right)
    return Planted(
        probe_id=probe_id,
        trace_id=place.trace.trace_id,
        kind=swap.kind,
        direction=swap.direction,
        form=form,
        credited=swap.wrong_name,
        wrong_answer=wrong_answer,
        wrong_sentence=wrong_at,
        right_answer=right_answer,
        right_sentence=right_at,
    )


def _names_itself(text: str, swap: Swap) -> bool:
    """Whether the sentence names one of the two places already, so that a credit would repeat it."""
    names = (swap.right.document, swap.wrong.document, swap.right.tool, swap.wrong.tool)
    return swap.kind in ("other file", "other tool") and any(
        name is not None and name.casefold() in text.casefold() for name in names
    )


def _template(text: str, rng: random.Random) -> tuple[str, tuple[str, str]]:
    """A form, and the words before and behind the name; the sentence stays whole."""
    ended = re.search(r"[.!?:]?\s*$", text)
    stop = text[ended.start() :] if ended else ""
    body = text[: len(text) - len(stop)]
    forms = {
        "behind": (f"{body}, according to ", stop),
        "in brackets": (f"{body} (", f"){stop}"),
    }
    first, _, rest = text.partition(" ")
    if rest and (first.casefold() in _MAY_BE_LOWERED or first[:1].isdigit()):
        lowered = f"{first.casefold()} {rest}"
        forms["in front"] = ("According to ", f", {lowered}")
        forms["as subject"] = ("", f" shows that {lowered}")
    form = rng.choice(sorted(forms))
    return form, forms[form]


def _filled(template: tuple[str, str], name: str) -> str:
    before, behind = template
    if before.endswith(" ("):
        name = name.removeprefix("the ")
    return f"{before}{name if before else _capital(name)}{behind}"


def replaced(text: str, credit: str, swap: Swap) -> str | None:
    """The sentence with its own credit in the words of another; None where the form is not known."""
    if text.count(credit) != 1:
        return None
    name, at = swap.wrong_name, text.index(credit)
    if _BARE_PMID.fullmatch(credit):
        words = name if swap.kind == "other paper" else None
    elif _BRACKETS.fullmatch(credit):
        words = f"{credit[0]}{name.removeprefix('the ')}{credit[-1]}"
    elif found := _PREPOSITION.match(credit):
        words = f"{found.group()}{name}"
    elif found := _SAYING.fullmatch(credit):
        words = f"{name} {found.group('verb')}"
    else:
        words = None
    if words is None:
        return None
    words = _capital(words) if at == 0 else words
    return text[:at] + words + text[at + len(credit) :]


def _put(answer: str, sentence: Span, text: str) -> tuple[str, Span]:
    whole = answer[: sentence.start] + text + answer[sentence.end :]
    return whole, Span(start=sentence.start, end=sentence.start + len(text))


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]


def with_answer(trace: Trace, answer: str, trace_id: str) -> Trace:
    """The trace under another id with another answer; captured citations have no place in it."""
    return replace(trace, trace_id=trace_id, answer=answer, citations=())
