"""Polarity, direction and causation of what two aligned texts say of the same thing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from core.distortions.alignment import Alignment
from core.distortions.comparison import (
    comparison_of,
    limits,
    near_cues,
    turned_round,
)
from core.distortions.reading import Cue, Reading, Word, cue_entries
from core.distortions.records import Difference, DistortionKind, difference
from core.evidence.quantities import read_quantities
from core.evidence.quantity_records import QuantityKind
from core.evidence.words import stem

_DENIED_FROM = 0.75  # coverage from which a claim's own "no" is held against a sentence without one
_UNDOING = ("un", "in", "im", "non", "dis", "ir")
# Groups that differ are told as a cause only by the plainest words.
_OUTRIGHT = ("caus", "prevent", "trigger", "produc", "lead", "led")
_OPPOSITE = {"up": "down", "down": "up", "better": "worse", "worse": "better"}


def negation_differs(at: Alignment) -> Iterator[Difference]:
    """One text denies what the other says: "supports" against "does not support"."""
    said, stated = _negations(at.claim, at, claim=True), _negations(at.premise, at, claim=False)
    if bool(said) == bool(stated) or (said and at.coverage < _DENIED_FROM):
        return
    if said and any(cue not in stated for cue in at.premise.of("negation")):
        return  # the source denies something too, and what it denies was not made out
    if any(cue.value == "not significant" for cue in at.premise.of("certainty")):
        return  # "no difference" and "not significant" are told of the same result
    yield difference(
        DistortionKind.NEGATION_FLIP, said[0] if said else None, stated[0] if stated else None
    )


def _negations(reading: Reading, at: Alignment, *, claim: bool) -> list[Cue]:
    """The negations that reach a word which both texts hold; "unsupported" denies "supported"."""
    both = set(at.pairs) if claim else set(at.pairs.values())
    found = []
    hidden = [c.span for c in reading.cues if c.value in ("tentative", "planned")]
    for cue in reading.of("negation"):
        if any(s.start <= cue.span.start and cue.span.end <= s.end for s in hidden):
            continue
        if cue.text.lower() in _PRIVATIVE and _names_a_group(cue, reading):
            continue
        # "Absence" that both texts speak of is a topic, not a denial.
        if not both & set(range(cue.first, cue.last + 1)) and limits(cue, reading, both):
            found.append(cue)
    if _prefixed(reading, at.premise if claim else at.claim):
        found += [] if found else list(reading.of("negation")) or [_as_cue(reading, at)]
    return [] if _cancelled(found) else found


# "Mice without the receptor ate more" denies nothing of what they did.
_PRIVATIVE = frozenset("without lacking".split())


def _names_a_group(cue: Cue, reading: Reading) -> bool:
    """Whether a privative stands right behind a noun, and a verb of the sentence comes after it."""
    before = reading.words[cue.first - 1] if cue.first else None
    return before is not None and before.content and cue.last + 2 < len(reading.words)


def _prefixed(reading: Reading, other: Reading) -> bool:
    roots = {word.stem for word in other.words}
    own = {word.stem for word in reading.words}
    return any(
        word.stem.startswith(prefix)
        and word.stem[len(prefix) :] in roots - own  # "regular, and nonregular" denies nothing
        for word in reading.words
        for prefix in _UNDOING
        if len(word.stem) > len(prefix) + 2 and word.stem not in roots
    )


def _as_cue(reading: Reading, at: Alignment) -> Cue:
    """A word such as "unsupported", taken as the negation that it holds."""
    word = next(
        w for w in reading.words if any(w.stem.startswith(p) for p in _UNDOING) and w.content
    )
    entry = next(e for e in cue_entries() if e.feature == "negation")
    return Cue(entry=entry, text=word.text, span=word.span, first=word.place, last=word.place,
               clause=reading.clauses[word.place])  # fmt: skip


def _cancelled(cues: Sequence[Cue]) -> bool:
    """ "Did not fail to": a denied denial."""
    lexical = [
        c for c in cues if c.text.lower().split()[0] in ("fail", "failed", "fails", "unable")
    ]
    return bool(lexical) and len(cues) - len(lexical) == 1 and len(lexical) == 1


def direction_differs(at: Alignment) -> Iterator[Difference]:
    """One text goes up where the other goes down, or from X to Y where the other goes from Y to X."""
    ordered = _order(at)
    if ordered is not None:
        yield from ordered
        return
    beside = _beside_number(at)
    if beside is not None:
        if beside[0].value != beside[1].value:
            yield difference(DistortionKind.DIRECTION_REVERSED, *beside)
        return
    for feature in ("direction", "valence"):
        said, stated = near_cues(at, feature, claim=True), near_cues(at, feature, claim=False)
        pair = _opposed(said, stated, at)
        if pair is not None:
            yield difference(DistortionKind.DIRECTION_REVERSED, *pair)
            return


def _order(at: Alignment) -> list[Difference] | None:
    """From X to Y in both texts: the same way is no difference, whatever words are used."""
    said, stated = _change(at.claim), _change(at.premise)
    if said is None and stated is None:
        return None
    if said is not None and stated is not None:
        if sorted(said) != sorted(stated):
            return None
        if said == stated:
            return []
    elif said is None:
        if stated is None or stated[0] == stated[1]:
            return None
        way = "up" if stated[1] > stated[0] else "down"
        cues = near_cues(at, "direction", claim=True)
        if len({cue.value for cue in cues}) != 1:
            return None
        if cues[0].value == way:
            return []
        return [difference(DistortionKind.DIRECTION_REVERSED, cues[0], None)]
    else:
        return None
    return [difference(DistortionKind.DIRECTION_REVERSED, None, None)]


def _beside_number(at: Alignment) -> tuple[Cue, Cue] | None:
    """The directions that the one number which both texts give is told with: "a 14.6 % lower level"."""
    said, stated = read_quantities(at.claim.text), read_quantities(at.premise.text)
    both = [
        (want, have)
        for want in said
        for have in stated
        if want.unit == have.unit == "percent" and want.amount == have.amount
    ]
    if len(both) != 1:
        return None
    ours = _cue_of(at.claim, both[0][0].span.start)
    theirs = _cue_of(at.premise, both[0][1].span.start)
    return None if ours is None or theirs is None else (ours, theirs)


def _cue_of(reading: Reading, place: int) -> Cue | None:
    """The direction in front of a number in its sentence, else the first one behind it."""
    cues = reading.of("direction")
    before = [cue for cue in cues if cue.span.end <= place]
    behind = [cue for cue in cues if cue.span.start >= place]
    return before[-1] if before else behind[0] if behind else None


def _change(reading: Reading) -> tuple[float, float] | None:
    items = [q for q in read_quantities(reading.text)
             if q.kind in (QuantityKind.NUMBER, QuantityKind.MONEY)]  # fmt: skip
    for one, other in zip(items, items[1:], strict=False):
        before = reading.text[max(0, one.span.start - 8) : one.span.start].lower()
        between = reading.text[one.span.end : other.span.start].lower().strip(" %")
        if between == "to" and "from " in before:
            return one.amount, other.amount
    for item in items:  # the reader of quantities may take "30 to 45" for one range
        before = reading.text[max(0, item.span.start - 8) : item.span.start].lower()
        if item.high is not None and "from " in before:
            return item.amount, item.high
    return None


def _opposed(said: Sequence[Cue], stated: Sequence[Cue], at: Alignment) -> tuple[Cue, Cue] | None:
    if not said or not stated:
        return None
    values, others = {cue.value for cue in said}, {cue.value for cue in stated}
    if len(values) == len(others) == 1:
        same = values == others
        first, second = said[0], stated[0]
        if comparison_of(at.claim) is not None and comparison_of(at.premise) is not None:
            same = same != turned_round(at)
        return None if same else (first, second)
    for cue in said:  # several directions: those that the same word bears
        borne = _bearer(cue, at.claim)
        if borne is None or borne.place not in at.pairs or _both_ways(borne, said, at.claim):
            continue
        for other in stated:
            theirs = _bearer(other, at.premise)
            if theirs is None or theirs.place != at.pairs[borne.place]:
                continue
            if other.value == _OPPOSITE[cue.value] and not _both_ways(theirs, stated, at.premise):
                return cue, other
    return None


def _both_ways(borne: Word, cues: Sequence[Cue], reading: Reading) -> bool:
    """ "Gained less weight": two directions of one thing make a third."""
    ways = {cue.value for cue in cues if (w := _bearer(cue, reading)) is not None and w == borne}
    return len(ways) > 1


def _bearer(cue: Cue, reading: Reading) -> Word | None:
    """What goes up or down: the noun behind "higher", the object of "raised", else what stands before."""
    after = reading.words[cue.last + 1 : cue.last + 4]
    if after and after[0].content and cue.entry.form == "adjective":
        return after[0]
    passive = after and after[0].text.lower() == "by"
    if cue.entry.form == "verb" and not passive:
        first = next((w for w in after if w.content), None)
        if first is not None and after[0].text.lower() not in (
            "in",
            "with",
            "after",
            "during",
            "from",
        ):
            return first
    before = [
        w
        for w in reading.words[: cue.first]
        if w.content and reading.clauses[w.place] == cue.clause
    ]
    return before[-1] if before else None


def cause_made(at: Alignment) -> Iterator[Difference]:
    """An association that is told as a cause."""
    stated = near_cues(at, "relation", claim=False)
    said = near_cues(at, "relation", claim=True)
    weak = [cue for cue in stated if cue.value == "weak association"]
    plain = [cue for cue in stated if cue.value == "association"]
    if any(c.value == "cause" for c in stated) or any(c.value == "association" for c in said):
        return
    causes = [cue for cue in said if cue.value == "cause" and not _denied(cue, at.claim)]
    if not plain:
        causes = [cue for cue in causes if cue.text.lower().startswith(_OUTRIGHT)]
    if causes and (plain or weak):
        yield difference(DistortionKind.ASSOCIATION_AS_CAUSE, causes[0], (plain or weak)[0])
    elif plain:
        acts = [c for c in near_cues(at, "direction", claim=True) if _acts(c, at.claim)]
        if acts:
            yield difference(DistortionKind.ASSOCIATION_AS_CAUSE, acts[0], plain[0])


def _acts(cue: Cue, reading: Reading) -> bool:
    """Whether a verb of change is active and has an object: "lowers depression scores"."""
    if cue.entry.form != "verb" or cue.first == 0:
        return False
    if not cue.text.lower().endswith("s"):
        return False
    after = reading.words[cue.last + 1 : cue.last + 2]
    before = reading.words[cue.first - 1]
    return (
        bool(after)
        and after[0].text.lower() not in ("in", "with", "by", "after")
        and (before.content or stem(before.text) not in ("was", "wer", "is", "are", "be"))
    )


def _denied(cue: Cue, reading: Reading) -> bool:
    return any(0 < cue.first - other.last <= 3 for other in reading.of("negation"))
