"""III.4 to III.6: the windows read in batches, and one claim judged from what was said of its own."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from core.config import Config
from core.distortions.checks import check_drift
from core.errors import NliError
from core.evidence.names import other_person
from core.evidence.values import ReadText, nearest_value, settles, value_present
from core.ports import NliModel
from core.records import (
    AlignedToken,
    Alignment,
    CheckedValue,
    Claim,
    Entailment,
    Features,
    Judged,
    LiteralCheck,
    Measurements,
    NliScore,
    OtherSource,
    Premise,
    ProtectedValue,
    Relation,
    Route,
    Span,
    TokenScore,
)
from core.text.chunks import is_record_text
from core.text.tokens import content_terms, is_content_word, overlap
from core.verification.candidates import Case, route_claim, shown_sources
from core.verification.decision import (
    calibrate,
    holds_all,
    judge,
)
from core.verification.features import (
    ClaimSignals,
    Pairs,
    build_features,
    claim_signals,
    close_signals,
    source_signals,
)
from core.verification.prepare import GOING, IndexedSource, Models, OpenTrace, share_time

MOST_SOURCE_TOKENS = 24
AT_ONCE = 256  # pairs; between two such parts the reading can be ended


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowScore:
    """One window of a source with what the NLI model said of it."""

    premise: Premise
    nli_score: NliScore


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined:
    """What reading one source gave: the routed one, or another that might support the claim too."""

    entailment: Entailment
    literals: LiteralCheck
    features: Features


def read_window(
    opened: Sequence[OpenTrace], cases: Sequence[Sequence[Case]], nli: NliModel
) -> Pairs:
    """III.4: what the NLI model says of every distinct (premise, claim) of the window: the windows that
    are read of each source, and the claim's focused premise in it."""
    pairs: dict[tuple[str, str], None] = {}
    shares = []
    for of_trace in cases:
        before = len(pairs)
        for case in of_trace:
            windows = [one.text for of_source in case.windows.values() for one in of_source]
            focused = [text for one in case.focused.values() for text in one.texts]
            pairs |= {(text, case.claim.text): None for text in (*windows, *focused)}
        shares.append(len(pairs) - before)
    start = time.perf_counter()
    nli_scores = _in_parts(list(pairs), nli)
    share_time(time.perf_counter() - start, shares, [one.clock for one in opened], "nli")
    return nli_scores


def _in_parts(pairs: Sequence[tuple[str, str]], nli: NliModel) -> Pairs:
    found = list[NliScore | None]()
    for at in range(0, len(pairs), AT_ONCE):
        GOING.get()()
        found += nli.read(pairs[at : at + AT_ONCE])
    return dict(zip(pairs, found, strict=True))


def judge_claim(
    case: Case, one: OpenTrace, nli_scores: Pairs, models: Models, config: Config
) -> Judged:
    """Everything the stages leave about one claim; a stage that cannot judge it raises StageError."""
    claim = case.claim
    read = {
        source_id: _read(windows, claim.text, nli_scores)
        for source_id, windows in case.windows.items()
    }
    with one.clock("conflation_route"):
        route = _route(case, read, one, config)
    if not read[route.source_id]:
        raise NliError("the statement is too long for the NLI model to take in whole")
    telling = _most_telling(read[route.source_id])
    with one.clock("check"):
        drift = check_drift(
            claim,
            one.prose,
            case.checks,
            [window.nli_score.probabilities for window in read[route.source_id]],
            [w.nli_score.probabilities for windows in read.values() for w in windows],
        )
    alignment = align_tokens(claim, telling.nli_score, config, telling.premise)
    with one.clock("calibrate"):
        examined = _examine(case, route, read, nli_scores, one, config)
        routed = examined[route.source_id]
        measured = Measurements(
            route=route,
            premise=telling.premise,
            entailment=routed.entailment,
            alignment=alignment,
            literals=routed.literals,
            features=routed.features,
            checks=case.checks if drift is None else (*case.checks, drift),
            others=tuple(
                OtherSource(source_id=source_id, features=found.features)
                for source_id, found in examined.items()
                if source_id != route.source_id and holds_all(found.literals)
            ),
        )
        (chances,) = calibrate([measured], models.calibrator)
    with one.clock("conflation_check"):
        return judge(
            claim,
            measured,
            chances,
            models.calibrator,
            families=one.families,
            catalogue=models.families,
            config=config,
        )


def _read(windows: Sequence[Premise], claim: str, nli_scores: Pairs) -> tuple[WindowScore, ...]:
    return tuple(
        WindowScore(premise=premise, nli_score=nli_score)
        for premise in windows
        if (nli_score := nli_scores[premise.text, claim]) is not None
    )


def _most_telling(windows: Sequence[WindowScore]) -> WindowScore:
    """The window that entails most: a claim is supported when one place says it."""
    return max(windows, key=lambda window: window.nli_score.probabilities.entailment)


def _route(
    case: Case, read: Mapping[str, tuple[WindowScore, ...]], one: OpenTrace, config: Config
) -> Route:
    said = {
        source_id: _most_telling(windows).nli_score.probabilities
        for source_id, windows in read.items()
        if windows
    }
    tools = {source.source_id: source.tool_name for source in one.trace.sources}
    shown = shown_sources(case.checks) & said.keys()
    return route_claim(case.candidates, said, tools, one.families, config, frozenset(shown))


def _examine(
    case: Case,
    route: Route,
    read: Mapping[str, tuple[WindowScore, ...]],
    nli_scores: Pairs,
    one: OpenTrace,
    config: Config,
) -> dict[str, Examined]:
    """III.4 and III.5 for every source that was read: who else could support the claim?"""
    by_id = {indexed.source.source_id: indexed for indexed in one.evidence.sources}
    about = claim_signals(case.claim, case.checks, one)
    return {
        source_id: _examined(case, route, by_id[source_id], read, nli_scores, about, one, config)
        for source_id, windows in read.items()
        if windows
    }


def _examined(
    case: Case,
    route: Route,
    indexed: IndexedSource,
    read: Mapping[str, tuple[WindowScore, ...]],
    nli_scores: Pairs,
    about: ClaimSignals,
    one: OpenTrace,
    config: Config,
) -> Examined:
    windows = read[indexed.source.source_id]
    telling = _most_telling(windows)
    entailment = judge_relation(telling.nli_score)
    literals = check_literals(
        case.claim,
        telling.premise,
        (indexed.read, indexed.call_read),
        indexed.people,
        entailment,
        config,
    )
    # Another source speaks for itself: what the routed one says is no support of it.
    own = indexed.source.source_id != route.source_id
    heard = [windows] if own else list(read.values())
    everywhere = [window for found in heard for window in found]
    features = build_features(
        case.claim,
        _taken(route, indexed, one),
        entailment,
        literals,
        category=one.trace.category,
        evidence_terms=one.evidence.terms,
        absent_everywhere=frozenset(
            text
            for text, present in about.values_in_findings.items()
            if not present and not about.values_in_calls[text]
        ),
        chunks_n=len(indexed.chunks),
        signals=source_signals(
            case.claim,
            indexed,
            case,
            about,
            [window.nli_score.probabilities for window in windows],
            [w.nli_score.probabilities for w in everywhere if not w.premise.call],
            [w.nli_score.probabilities for w in everywhere if w.premise.call],
        )
        | close_signals(
            case,
            [indexed.source.source_id] if own else read,
            nli_scores,
            about.shared["own_work"],
        ),
        config=config,
    )
    return Examined(entailment=entailment, literals=literals, features=features)


def _taken(route: Route, indexed: IndexedSource, one: OpenTrace) -> Route:
    """The same ranking with another source taken, which leads by nothing."""
    source = indexed.source
    if source.source_id == route.source_id:
        return route
    ranked = next(r for r in route.ranking if r.source_id == source.source_id)
    return replace(
        route,
        source_id=source.source_id,
        tool_name=source.tool_name,
        family=one.families[source.source_id],
        score=ranked.score,
        margin=0.0,
    )


def judge_relation(nli_score: NliScore) -> Entailment:
    """The relation of one NLI score; NliError when its probabilities are none."""
    probabilities = nli_score.probabilities
    total = probabilities.entailment + probabilities.neutral + probabilities.contradiction
    if not 0.99 <= total <= 1.01:
        raise NliError(f"the NLI model's probabilities sum to {total:.4f}, not to 1")
    return Entailment(relation=probabilities.relation, probabilities=probabilities)


def align_tokens(
    claim: Claim, nli_score: NliScore, config: Config, premise: Premise | None = None
) -> Alignment:
    """Mark the content words with ``a_i < tau * max_k a_k`` as weakly grounded (III.4).

    The supported-token ratio is over non-stopword words; a claim without any has ratio 0, so that
    it does not pass for grounded. With ``premise``, the words of the source that the claim's words
    looked at are kept by the same share of the highest, at most ``MOST_SOURCE_TOKENS`` of them.
    """
    highest = max((token.score for token in nli_score.tokens), default=0.0)
    tokens = []
    for token in nli_score.tokens:
        word = token.span.cut(claim.text)
        content = is_content_word(word) and any(letter.isalnum() for letter in word)
        weak = content and token.score < config.alignment_tau * highest
        tokens.append(
            (content, AlignedToken(text=word, span=token.span, score=token.score, weak=weak))
        )
    counted = [token for content, token in tokens if content]
    grounded = sum(1 for token in counted if not token.weak)
    ratio = round(grounded / len(counted), 4) if counted and highest > 0 else 0.0
    return Alignment(
        tokens=tuple(token for _, token in tokens),
        supported_token_ratio=ratio,
        source_tokens=_looked_at(nli_score, premise, config) if premise is not None else (),
    )


def _looked_at(nli_score: NliScore, premise: Premise, config: Config) -> tuple[TokenScore, ...]:
    """The content words of the premise that were looked at most, in the source's order."""
    content = []
    for token in nli_score.premise_tokens:
        word = token.span.cut(premise.text)
        if is_content_word(word) and any(letter.isalnum() for letter in word):
            content.append(token)
    highest = max((token.score for token in content), default=0.0)
    kept = sorted(content, key=lambda token: -token.score)[:MOST_SOURCE_TOKENS]
    placed = [
        TokenScore(span=place, score=token.score)
        for token in kept
        if token.score >= config.alignment_tau * highest > 0
        and (place := _in_source(token.span, premise)) is not None
    ]
    return tuple(sorted(placed, key=lambda token: token.span.start))


def _in_source(span: Span, premise: Premise) -> Span | None:
    """A span of the premise's text in the source's: the premise joins its spans with newlines."""
    at = 0
    for part in premise.spans:
        end = at + part.end - part.start
        if at <= span.start and span.end <= end:
            return Span(start=part.start + span.start - at, end=part.start + span.end - at)
        at = end + 1
    return None


def check_literals(
    claim: Claim,
    premise: Premise,
    source: Sequence[ReadText | str],
    people: Sequence[str],
    entailment: Entailment,
    config: Config,
) -> LiteralCheck:
    """Find the claim's literals in the source, and rescue a neutral reading of an exact record.

    ``source`` are the whole output and its call's lines: unlike the paper, which looks in the
    premise, because a premise is only what was read first. ``people`` are the patients that the
    source's own record lines name.
    """
    values = tuple(_checked(value, premise, source, claim.text) for value in claim.protected_values)
    mismatches = tuple(
        checked.value.text for checked in values if checked.value.identity and not checked.present
    )
    # A name that opens a sentence is no protected value (Appendix C); the record's own name line
    # still tells whether it is this patient's.
    about = claim.subject if claim.patient_specific and not mismatches else None
    if about and other_person(about, people) is not None:
        mismatches = (about,)
    shared = round(overlap(content_terms(claim.text), content_terms(premise.text)), 4)
    rescued = _is_rescued(claim, premise, entailment, values, shared, config)
    return LiteralCheck(
        values=values,
        identity_mismatches=mismatches,
        term_overlap=shared,
        relation=Relation.ENTAILMENT if rescued else entailment.relation,
        rescued=rescued,
    )


def _checked(
    value: ProtectedValue, premise: Premise, source: Sequence[ReadText | str], said: str
) -> CheckedValue:
    present = value_present(value, premise.text) or any(value_present(value, s) for s in source)
    return CheckedValue(
        value=value,
        present=present,
        nearest=None if present else nearest_value(value, premise.text, said),
        settles=present or settles(value, premise.text),
    )


def _is_rescued(
    claim: Claim,
    premise: Premise,
    entailment: Entailment,
    values: tuple[CheckedValue, ...],
    shared: float,
    config: Config,
) -> bool:
    """A neutral NLI score counts as entailment when an exact record holds all the claim's literals."""
    if entailment.relation is not Relation.NEUTRAL or not is_record_text(premise.text):
        return False
    if not all(checked.present for checked in values):
        return False
    needed = config.rescue_overlap_with_values if values else config.rescue_overlap_without_values
    return shared > needed
