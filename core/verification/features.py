"""III.5: the calibrator's input: Appendix B's features, then words, values, checks and NLI scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from core.config import Config
from core.distortions.checks import CHECK_NAMES
from core.evidence.values import value_present
from core.records import (
    CLOSE_FEATURE,
    CLOSE_READ_FEATURE,
    SHOWN_FEATURE,
    VETOES_FEATURE,
    Check,
    Claim,
    Entailment,
    Features,
    LiteralCheck,
    NliScore,
    Outcome,
    Probabilities,
    Relation,
    Route,
)
from core.text.tokens import (
    content_bigrams,
    content_terms,
    denies,
    overlap,
    weighted_overlap,
)
from core.verification.candidates import UNCOUNTED, Case, shown_sources
from core.verification.prepare import IndexedSource, OpenTrace, Standing

CATEGORICAL = ("verifier_label", "category", "pred_tool", "status")
NUMERIC = (
    "route_score",
    "pred_score",
    "routing_margin",
    "term_overlap",
    "all_term_overlap",
    "claim_terms_n",
    "protected_n",
    "protected_missing",
    "protected_missing_all",
    "evidence_chunks_n",
    "claim_len",
    "has_stated_attr",
    "score_x_route",
    "score_x_overlap",
    "route_x_overlap",
    "neutral",
    "entailment",
    "contradiction",
    "weak_route_high_score",
    "strong_route",
    "score_x_route_squared",
)
# The kinds of check whose outcomes the calibrator sees one by one; others count in the sums.
CHECK_KINDS = (
    "value",
    "date",
    "dose",
    "status",
    "name",
    "identifier",
    "quoted",
    "absence",
    "argument",
    "action",
)
# What a claim speaks of when it is about what the agent itself did or made.
_OWN_WORK = content_terms(
    "agent assistant i report file document slide presentation chart page created saved wrote "
    "generated searched tool script code repository folder directory section"
)
# Closed classes of words that turn a statement round, in the normalised form of content terms.
_UP = content_terms(
    "increase increased rise rose higher more greater grow grew gain gained raise raised elevated "
    "up faster longer improve improved prolonged above exceed opening activate activated promote"
)
_DOWN = content_terms(
    "decrease decreased fall fell lower less fewer reduce reduced decline declined drop dropped "
    "loss lost down slower shorter worsen worsened shortened below suppress suppressed inhibit "
    "inhibited closing unchanged"
)
_DENIED = frozenset({"denies", "denied", "negative"})  # beside the words that negate
Pairs = Mapping[tuple[str, str], NliScore | None]


def build_features(
    claim: Claim,
    route: Route,
    entailment: Entailment,
    literals: LiteralCheck,
    *,
    category: str | None,
    evidence_terms: frozenset[str],
    absent_everywhere: frozenset[str],
    chunks_n: int,
    signals: Mapping[str, float],
    config: Config,
) -> Features:
    """The verifier's own signals for one claim and its routed source (III.5, Appendix B).

    ``evidence_terms`` are those of the whole trace, ``absent_everywhere`` the values that no source
    and no call of it holds; ``chunks_n`` counts the routed source's chunks. ``signals`` are taken as
    they are, after the paper's: words, values, checks and NLI scores. ``score_x_route_squared`` is
    (score · route)², as Appendix B's figures show. Numbers are rounded to 4 decimals.
    """
    label = literals.relation
    score = entailment.probabilities.of(label)
    terms = content_terms(claim.text)
    checked = literals.values
    missing_all = sum(1 for c in checked if not c.present and c.value.text in absent_everywhere)
    numeric = {
        "route_score": route.score,
        "pred_score": score,
        "routing_margin": route.margin,
        "term_overlap": literals.term_overlap,
        "all_term_overlap": overlap(terms, evidence_terms),
        "claim_terms_n": len(terms),
        "protected_n": len(checked),
        "protected_missing": sum(1 for c in checked if not c.present),
        "protected_missing_all": missing_all,
        "evidence_chunks_n": chunks_n,
        "claim_len": len(claim.text.split()),
        "has_stated_attr": float(claim.stated is not None),
        "score_x_route": score * route.score,
        "score_x_overlap": score * literals.term_overlap,
        "route_x_overlap": route.score * literals.term_overlap,
        "neutral": float(label is Relation.NEUTRAL),
        "entailment": float(label is Relation.ENTAILMENT),
        "contradiction": float(label is Relation.CONTRADICTION),
        "weak_route_high_score": float(
            route.score < config.weak_route_below and score >= config.high_score_from
        ),
        "strong_route": float(route.score >= config.strong_route_from),
        "score_x_route_squared": (score * route.score) ** 2,
    }
    return Features(
        categorical={
            "verifier_label": label.value,
            "category": category or "none",
            "pred_tool": route.tool_name,
            "status": f"rescued_{label.value}" if literals.rescued else f"routed_{label.value}",
        },
        numeric={name: round(float(numeric[name]), 4) for name in NUMERIC}
        | {name: round(float(value), 4) for name, value in signals.items()},
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimSignals:
    """What holds for a claim whatever source is taken, computed once."""

    terms: frozenset[str]
    bigrams: frozenset[tuple[str, str]]
    values_in_findings: Mapping[str, bool]
    values_in_calls: Mapping[str, bool]
    shared: Mapping[str, float]


def claim_signals(claim: Claim, checks: Sequence[Check], one: OpenTrace) -> ClaimSignals:
    """Words and values of a claim against all evidence of its trace, and its checks together."""
    evidence = one.evidence
    terms, bigrams = content_terms(claim.text), content_bigrams(claim.text)
    values = {value.text: value for value in claim.protected_values}
    finding = [indexed.read for indexed in evidence.sources if indexed.finds]
    calls = [indexed.call_read for indexed in evidence.sources]
    in_findings = {t: any(value_present(v, one) for one in finding) for t, v in values.items()}
    in_calls = {t: any(value_present(v, one) for one in calls) for t, v in values.items()}
    count = len(values)
    shared = {
        "finding_overlap": overlap(terms, evidence.terms),
        "call_overlap": overlap(terms, evidence.call_terms),
        "evidence_overlap": overlap(terms, evidence.terms | evidence.call_terms),
        "evidence_rare_overlap": weighted_overlap(
            terms, evidence.terms | evidence.call_terms, evidence.rare
        ),
        "finding_bigrams": _share(bigrams, evidence.bigrams),
        "values_in_findings": sum(in_findings.values()) / count if count else 1.0,
        "values_in_calls": sum(in_calls.values()) / count if count else 1.0,
        "values_nowhere": sum(not (in_findings[t] or in_calls[t]) for t in values),
        "terms_nowhere": len(terms - evidence.terms - evidence.call_terms),
        "own_work": overlap(terms, _OWN_WORK),
        "sources_n": len(evidence.sources),
    }
    return ClaimSignals(
        terms=terms,
        bigrams=bigrams,
        values_in_findings=in_findings,
        values_in_calls=in_calls,
        shared=shared | check_signals(checks),
    )


def check_signals(checks: Sequence[Check]) -> dict[str, float]:
    """What all checks of a claim say together, and each of the kinds that a calibrator sees by itself."""
    # What only informs moves nothing that the calibrator was fitted on; a claim that is stated whole
    # has a signal of its own, and its values are counted already.
    counted = [
        check
        for check in checks
        if check.check not in UNCOUNTED
        and (check.check not in CHECK_NAMES or check.outcome is not Outcome.SILENT)
    ]
    outcomes = [check.outcome for check in counted]
    found = {
        "checks_n": len(outcomes),
        "checks_supports": outcomes.count(Outcome.SUPPORTS),
        "checks_contradicts": outcomes.count(Outcome.CONTRADICTS),
        "checks_silent": outcomes.count(Outcome.SILENT),
        VETOES_FEATURE: sum(check.veto for check in checks),
        "checks_share": _supported_share(counted),
        "checks_all_support": float(bool(outcomes) and set(outcomes) == {Outcome.SUPPORTS}),
        "checks_derived": sum(check.derivation is not None for check in checks),
        "distortions_n": sum(check.check in CHECK_NAMES for check in counted),
    }
    for kind in CHECK_KINDS:
        found[f"check_{kind}"] = _balance([check for check in checks if check.check == kind])
    return found


def source_check_signals(checks: Sequence[Check], source_id: str) -> dict[str, float]:
    """What the checks found in one source, and whether it states all that the claim says."""
    here = [one for one in checks if any(place.source_id == source_id for place in one.facts)]
    return {
        "source_checks_supports": sum(
            c.outcome is Outcome.SUPPORTS and c.check not in UNCOUNTED for c in here
        ),
        SHOWN_FEATURE: float(source_id in shown_sources(checks)),
        "source_checks_contradicts": sum(c.outcome is Outcome.CONTRADICTS for c in here),
    }


def nli_signals(outputs: float, calls: float, own_work: float) -> dict[str, float]:
    """The best entailment of outputs and of calls, each where it is evidence of what the claim is about.

    What the agent wrote is evidence of what it wrote. So a call counts beside the outputs where the
    claim is about the agent's own work, and apart from them where it is about the world.
    """
    own = own_work > 0
    return {
        "entailment_fit": max(outputs, calls) if own else outputs,
        "entailment_own": calls if own else 0.0,
        "entailment_said": 0.0 if own else calls,
    }


def source_signals(
    claim: Claim,
    indexed: IndexedSource,
    case: Case,
    about: ClaimSignals,
    nli_scores: Sequence[Probabilities],
    outputs: Sequence[Probabilities],
    calls: Sequence[Probabilities],
) -> dict[str, float]:
    """Everything of ``about``, and what one source adds: ``readings`` are of its windows; ``outputs``
    and ``calls`` are all that speak for it, of what came back and of what was asked or written.

    What an agent wrote is evidence of what it wrote, not of what the world is: told apart, the
    calibrator can weigh the two by what the claim is about.
    """
    told, asked = _most_entailing(outputs), _most_entailing(calls)
    candidate = next(c for c in case.candidates if c.source_id == indexed.source.source_id)
    windows = case.windows[candidate.source_id]
    window = max((overlap(about.terms, content_terms(p.text)) for p in windows), default=0.0)
    beside = "\n".join(premise.text for premise in windows)
    found = source_check_signals(case.checks, indexed.source.source_id)
    found |= nli_signals(told, asked, about.shared["own_work"])
    return (
        dict(about.shared)
        | found
        | {
            "source_overlap": overlap(about.terms, indexed.terms),
            "source_call_overlap": overlap(about.terms, indexed.call_terms),
            "source_bigrams": _share(about.bigrams, indexed.bigrams),
            "window_overlap": window,
            "window_terms_missing": len(about.terms - content_terms(beside)),
            "direction_opposed": float(_opposed(about.terms, content_terms(beside))),
            "negation_differs": float(denies(claim.text, _DENIED) and not denies(beside, _DENIED)),
            "source_nearest": candidate.nearest,
            "source_values": candidate.values,
            "source_catalogue": float(indexed.standing is Standing.CATALOGUE),
            "source_echo": float(indexed.standing is Standing.ECHO),
            "source_failed": float(indexed.standing is Standing.FAILURE),
            "source_structured": float(indexed.source.structured),
            "entailment_max": _most_entailing(nli_scores),
            "entailment_min": min((r.entailment for r in nli_scores), default=0.0),
            "contradiction_max": max((r.contradiction for r in nli_scores), default=0.0),
            "neutral_min": min((r.neutral for r in nli_scores), default=1.0),
            "entailment_any": max(told, asked),
            "entailment_outputs": told,
            "entailment_calls": asked,
            "contradiction_any": max((r.contradiction for r in (*outputs, *calls)), default=0.0),
        }
    )


def _most_entailing(nli_scores: Sequence[Probabilities]) -> float:
    return max((r.entailment for r in nli_scores), default=0.0)


def _share(wanted: frozenset[tuple[str, str]], there: frozenset[tuple[str, str]]) -> float:
    return len(wanted & there) / len(wanted) if wanted else 0.0


def _opposed(claim: frozenset[str], window: frozenset[str]) -> bool:
    """Whether the claim goes up where what was read only goes down, or the other way."""
    return bool(
        (claim & _UP and not claim & _DOWN and window & _DOWN and not window & _UP)
        or (claim & _DOWN and not claim & _UP and window & _UP and not window & _DOWN)
    )


def _supported_share(checks: Sequence[Check]) -> float:
    """Of the checks that found something, the share that supports; 0.5 when none did."""
    told = [check for check in checks if check.outcome is not Outcome.SILENT]
    return sum(c.outcome is Outcome.SUPPORTS for c in told) / len(told) if told else 0.5


def _balance(checks: Sequence[Check]) -> float:
    """From -1, all contradict, to 1, all support; 0 when there are none or they are silent."""
    if not checks:
        return 0.0
    sign = {Outcome.SUPPORTS: 1, Outcome.SILENT: 0, Outcome.CONTRADICTS: -1}
    return sum(sign[check.outcome] for check in checks) / len(checks)


def close_signals(
    case: Case, source_ids: Iterable[str], nli_scores: Pairs, own_work: float
) -> dict[str, float]:
    """The best NLI score of the claim's focused premise in these sources, and whether it was looked for:
    where nothing in them shares a word with the claim, that is 0.

    As of windows, what was asked or written speaks only for what the agent itself did.
    """
    if not case.focused:
        return {CLOSE_FEATURE: 0.0, CLOSE_READ_FEATURE: 0.0}
    said = []
    for focused in (case.focused[source_id] for source_id in source_ids):
        texts = focused.texts if own_work > 0 else (focused.output,)
        said += [
            nli_score for text in texts if (nli_score := nli_scores.get((text, case.claim.text)))
        ]
    best = max((nli_score.probabilities.entailment for nli_score in said), default=0.0)
    return {CLOSE_FEATURE: best, CLOSE_READ_FEATURE: 1.0}
