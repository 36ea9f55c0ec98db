"""The proof of a judge's verdict, checked without any model.

A verdict counts only where each quote stands in the named source, the sources may testify, each value of
the claim is quoted or computed from what is quoted, and the quotes are of the record and the attribute
that the claim is about; a contradiction shows what stands there instead. Whatever fails makes the verdict
count for nothing, with the reason in words for a person.
"""

from __future__ import annotations

from core.evidence.comparing import holds, sign_fits
from core.evidence.quantities import read_quantities
from core.evidence.quantity_records import QuantityKind
from core.evidence.values import names_in
from core.evidence.words import stems
from core.judge.arithmetic import Evaluated, shown
from core.judge.binding import attribute_failures, record_failures, time_failures
from core.judge.quotes import find_quote, place_in
from core.judge.testimony import Material, Quoted, silent_because
from core.judge.values import (
    Shown,
    follows,
    shown_by,
    value_failures,
    with_calculations,
)
from core.records import Claim, SourceStatus
from core.records.judge import (
    CALLS,
    Conflict,
    JudgeReading,
    JudgeVerdict,
    NotShown,
    Proof,
    Proved,
    Unproved,
)
from core.text.tokens import content_terms, denies, words

MOST_QUOTES = 40
# Words that speak of all there is: only a whole output can show them.
_WHOLE = frozenset("no none nothing nobody never without only all every each any both".split())


def prove(claim: Claim, reading: JudgeReading, material: Material) -> Proof:
    """What of a judge's reading of a claim is proved by the sources."""
    if reading.verdict in (JudgeVerdict.NOT_SHOWN, JudgeVerdict.NOT_A_CLAIM):
        return NotShown(why=reading.why)
    against = reading.verdict is JudgeVerdict.CONTRADICTED
    found, failed = _quotes(claim, reading, material, against=against)
    places = tuple(quoted.place for quoted in found)
    if failed:
        return Unproved(verdict=reading.verdict, failed=tuple(failed), places=places)
    testifying = tuple(quoted for quoted in found if quoted.silent is None)
    if not testifying:
        reasons = dict.fromkeys(quoted.silent for quoted in found if quoted.silent)
        return Unproved(verdict=reading.verdict, failed=tuple(reasons), places=places)
    shows = shown_by(testifying, material)
    shows, calculations, failed = with_calculations(reading.calculations, shows, claim)
    failed += record_failures(claim, shows, material)
    if against:
        failed += _conflict_failures(claim, reading.conflict, shows, material)
    else:
        failed += value_failures(claim, shows, material)
        failed += attribute_failures(claim, shows, material)
        failed += time_failures(claim, shows, material)
        failed += _whole_failures(claim, shows, material)
        failed += _about_failures(claim, shows)
    if failed:
        failed += list(dict.fromkeys(quoted.silent for quoted in found if quoted.silent))
        return Unproved(verdict=reading.verdict, failed=tuple(failed), places=places)
    proved = tuple(quoted.place for quoted in testifying)
    return Proved(verdict=reading.verdict, places=proved, calculations=calculations)


# ---------------------------------------------------------------- 1 and 2: quotes, and who testifies


def _quotes(
    claim: Claim, reading: JudgeReading, material: Material, *, against: bool
) -> tuple[list[Quoted], list[str]]:
    found: list[Quoted] = []
    failed: list[str] = []
    if not reading.evidence:
        failed.append("it quotes nothing")
    if len(reading.evidence) > MOST_QUOTES:
        failed.append(f"it quotes more than {MOST_QUOTES} places")
    for quote in reading.evidence[:MOST_QUOTES]:
        source = material.sources.get(quote.source_id)
        if source is None and quote.source_id != CALLS:
            failed.append(f"there is no source {quote.source_id!r:.60}")
            continue
        place = find_quote(quote, source, material.calls)
        if place is None:
            where = material.names.get(quote.source_id, "the list of calls")
            failed.append(f"the quote “{quote.quote:.60}” is not in {where}")
            continue
        silent = silent_because(quote, place, claim.text, material, against=against)
        found.append(Quoted(quote=quote, place=place, silent=silent))
    return found, failed


def _about_failures(claim: Claim, shows: Shown) -> list[str]:
    """A claim without a value is bound by its words alone: one beside its names must be quoted.

    Names are shared by all that an answer says of somebody. Not asked where it denies (what shows an
    absence holds other words), is computed, or tells what was done, which the list of calls shows.
    Another claim's quotes proved 250 of 328 such claims where any word and any calculation was
    enough, and prove 192 now, some of them rightly; of 164 rightly proved ones 2 are refused
    (replies to development answers).
    """
    about_run = any(one.quote.source_id == CALLS for one in shows.quoted)
    computed = any(_decides(one, claim) for one in shows.computed)
    if claim.protected_values or read_quantities(claim.text) or computed or about_run:
        return []
    names = " ".join(name.text for name in names_in(claim.text))
    about = stems(" ".join(content_terms(claim.text))) - stems(names)
    if denies(claim.text) or not about or about & stems(shows.text):
        return []
    return ["no word of the claim beside its names is in what it quotes"]


def _decides(one: Evaluated, claim: Claim) -> bool:
    """Whether a calculation says something of a claim without values: a comparison, or the claim's word."""
    said = isinstance(one.value, str) and one.value.lower() in claim.text.lower()
    return one.holds is True or one.extreme is not None or said


def _whole_failures(claim: Claim, shows: Shown, material: Material) -> list[str]:
    """What speaks of all there is needs outputs that were captured whole.

    Of an output that the judge was sent in part it needs a quote that says so itself.
    """
    spoken = _WHOLE & set(words(claim.text))
    if not (denies(claim.text) or spoken):
        return []
    said = denies(shows.text) if denies(claim.text) else spoken <= set(words(shows.text))
    return [
        f"{name} was {'sent in part' if name in material.narrowed else 'cut'}, "
        "and the claim speaks of all there is"
        for name in dict.fromkeys(one.place.source_id for one in shows.quoted)
        if (name in material.narrowed and not said)
        or (name in material.sources and material.sources[name].status is SourceStatus.TRUNCATED)
    ]


# ---------------------------------------------------------------- 5: what stands there instead


def _conflict_failures(
    claim: Claim, conflict: Conflict | None, shows: Shown, material: Material
) -> list[str]:
    """Why the quotes do not show another value, status or polarity of what the claim says."""
    failing = [
        one for one in shows.quoted
        if one.place.source_id in material.sources
        and material.sources[one.place.source_id].status is SourceStatus.ERROR
    ]  # fmt: skip
    if failing:
        return []  # the call that the claim says was made is one that failed
    if conflict is None:
        return [] if _differs(claim.text, shows.text, shows) else [
            "nothing in the quotes is another value, status or denial of what the claim says"
        ]  # fmt: skip
    failed = []
    if place_in(conflict.claim_part, claim.text) is None:
        failed.append(f"“{conflict.claim_part:.60}” is not in the claim")
    if place_in(conflict.source_part, shows.text) is None and not _is_result(
        conflict.source_part, shows
    ):
        failed.append(f"“{conflict.source_part:.60}” is in no quote")
    if not failed and not _differs(
        conflict.claim_part, conflict.source_part, shows, words_too=True
    ):
        failed.append(
            f"“{conflict.source_part:.60}” says nothing else than “{conflict.claim_part:.60}”"
        )
    return failed


def _is_result(part: str, shows: Shown) -> bool:
    """Whether what is said to stand instead is the result of a calculation, in words or figures."""
    about = stems(part)
    wanted = read_quantities(part)
    return any(part == shown(one.value) for one in shows.computed) or (
        bool(wanted)
        and all(any(follows(one, want, about) for one in shows.computed) for want in wanted)
    )


def _differs(said: str, instead: str, shows: Shown, *, words_too: bool = False) -> bool:
    """Whether one text holds another value than the other, denies it, or (``words_too``) other words."""
    about = stems(said)
    wanted = [item for item in read_quantities(said) if item.kind is not QuantityKind.ORDINAL]
    have = read_quantities(instead)
    missing = [want for want in wanted if not any(holds(item, want, about) for item in have)]
    if missing and (have or shows.computed):
        return True
    if any(
        want.signed and isinstance(one.value, float) and not sign_fits(one.value, want)
        for want in wanted
        for one in shows.computed
    ):
        return True
    if denies(said) != denies(instead):
        return True
    if not words_too:
        return False
    if set(words(said)) <= _WHOLE:
        return True  # "only", and another one is quoted
    return not content_terms(said) <= content_terms(instead)
