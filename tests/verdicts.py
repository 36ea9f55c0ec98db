"""Verifications for tests of screens: built from the real records, written by the real report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from core.codec import content_hash
from core.evidence.values import nearest_value, protected_values, value_present
from core.records import (
    AlignedToken,
    Alignment,
    AnswerDecision,
    Attribution,
    AttributionStatus,
    Check,
    CheckedValue,
    CitationFinding,
    Claim,
    ClaimType,
    ClaimVerdict,
    Decision,
    Entailment,
    Features,
    Judged,
    LiteralCheck,
    Outcome,
    Premise,
    Probabilities,
    RankedSource,
    RawRange,
    Route,
    SetAside,
    Source,
    SourceStatus,
    Span,
    StatedAttribution,
    Support,
    Trace,
    Unjudged,
    VerdictLabel,
    Verification,
    Versions,
)
from core.text.tokens import is_content_word, word_spans
from core.workflows.verify import run_key
from storage.store import SqlStore

VERSIONS = Versions(
    pipeline="1",
    config_sha256="0" * 64,
    embedder="embedder",
    pair_reader="reader",
    precision="float32",
    calibrator="forest",
)


# What makes a claim contradicted, and not only read so.
SHOWN = Check(
    check="statement", outcome=Outcome.CONTRADICTS, reason="It says otherwise.", veto=True
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What a test wants to see said about one stretch of an answer.

    ``premise`` is the stretch of the routed source's text that was read. ``credits`` is the stretch
    of the answer that names a source, with ``credited`` as its family.
    """

    said: str
    verdict: VerdictLabel | None
    source: str = ""
    premise: str = ""
    credits: str | None = None
    credited: str | None = None
    conflation: bool = False
    reasons: tuple[str, ...] = ()
    probability: float = 0.9
    claim_type: ClaimType = ClaimType.FACTUAL
    weak: tuple[str, ...] = ()
    family: str = ""


def a_verification(
    trace: Trace, families: dict[str, str], said: Sequence[Said], decision: Decision | None = None
) -> Verification:
    """A verification of ``trace`` that says what the test wants said."""
    claims = tuple(
        _verdict(trace, families, f"{trace.trace_id}::c{n:02d}", one)
        for n, one in enumerate(said, 1)
    )
    blocked = [claim for claim in claims if claim.decision is Decision.BLOCK]
    return Verification(
        trace=trace,
        families=families,
        claims=claims,
        answer=AnswerDecision(
            decision=decision or (Decision.BLOCK if blocked else Decision.ALLOW),
            reasons=tuple(
                f"{c.claim.claim_id.rsplit('::', 1)[-1]}: {c.reasons[0]}" for c in blocked
            )
            or ("All factual claims are supported by the source they belong to.",),
        ),
        versions=VERSIONS,
        latency_seconds={"total": (0.5,)},
    )


def _verdict(trace: Trace, families: dict[str, str], claim_id: str, one: Said) -> ClaimVerdict:
    answer = trace.answer or ""
    start = answer.index(one.said)
    stated = None
    if one.credits:
        at = answer.index(one.credits)
        stated = StatedAttribution(
            text=one.credits, span=Span(start=at, end=at + len(one.credits)), family=one.credited
        )
    claim = Claim(
        claim_id=claim_id,
        text=one.said,
        span=Span(start=start, end=start + len(one.said)),
        said=one.said,
        claim_type=one.claim_type,
        stated=stated,
        protected_values=protected_values(one.said),
    )
    if one.verdict is None:
        outcome: Judged | Unjudged | SetAside = SetAside(reason=one.reasons[0])
    elif one.verdict is VerdictLabel.UNJUDGED:
        outcome = Unjudged(stage="nli", reason=one.reasons[0])
    else:
        outcome = _judged(trace, families, claim, one)
    blocks = one.conflation or one.verdict not in (VerdictLabel.SUPPORTED, None)
    return ClaimVerdict(
        claim=claim,
        outcome=outcome,
        verdict=one.verdict,
        decision=Decision.BLOCK if blocks else Decision.ALLOW,
        reasons=one.reasons or (f"Supported by {one.source}.",),
    )


def _judged(trace: Trace, families: dict[str, str], claim: Claim, one: Said) -> Judged:
    source = trace.source(one.source)
    at = source.text.index(one.premise)
    label = {
        VerdictLabel.SUPPORTED: Probabilities(entailment=0.91, neutral=0.07, contradiction=0.02),
        VerdictLabel.CONTRADICTED: Probabilities(entailment=0.03, neutral=0.08, contradiction=0.89),
    }.get(one.verdict, Probabilities(entailment=0.08, neutral=0.85, contradiction=0.07))  # type: ignore[arg-type]
    silent = Probabilities(entailment=0.05, neutral=0.9, contradiction=0.05)
    others = [s.source_id for s in trace.sources if s.is_evidence and s.source_id != one.source]
    ranking = [RankedSource(source_id=one.source, score=0.7134, probabilities=label)]
    ranking += [
        RankedSource(
            source_id=source_id,
            score=round(0.41 / (n + 1), 4),
            probabilities=silent if n < 2 else None,
        )
        for n, source_id in enumerate(others)
    ]
    words = word_spans(claim.text)
    tokens = tuple(
        AlignedToken(
            text=span.cut(claim.text),
            span=span,
            score=0.02 if span.cut(claim.text) in one.weak else round(0.3 + 0.05 * (n % 7), 4),
            weak=span.cut(claim.text) in one.weak,
        )
        for n, span in enumerate(words)
        if is_content_word(span.cut(claim.text))
    )
    values = tuple(
        CheckedValue(
            value=value,
            present=value_present(value, one.premise),
            nearest=None
            if value_present(value, one.premise)
            else nearest_value(value, one.premise),
        )
        for value in claim.protected_values
    )
    stated = claim.stated.family if claim.stated else None
    routed = families[one.source]
    status = AttributionStatus.NONE
    if one.conflation:
        status = AttributionStatus.CONFLATION
    elif stated:
        status = AttributionStatus.MATCH
    return Judged(
        route=Route(
            source_id=one.source,
            tool_name=source.tool_name,
            family=routed,
            score=0.7134,
            margin=round(0.7134 - (ranking[1].score if len(ranking) > 1 else 0.0), 4),
            ranking=tuple(ranking),
        ),
        premise=Premise(
            source_id=one.source,
            text=one.premise,
            spans=(Span(start=at, end=at + len(one.premise)),),
            truncated=False,
        ),
        entailment=Entailment(relation=label.relation, probabilities=label),
        alignment=Alignment(
            tokens=tokens,
            supported_token_ratio=round(1 - sum(t.weak for t in tokens) / max(1, len(tokens)), 4),
        ),
        literals=LiteralCheck(
            values=values,
            identity_mismatches=(),
            term_overlap=0.8,
            relation=label.relation,
            rescued=False,
        ),
        features=Features(
            categorical={"verifier_label": label.relation.value}, numeric={"route_score": 0.7134}
        ),
        support=Support(probability=one.probability, threshold=0.65),
        attribution=Attribution(
            status=status,
            stated_family=stated,
            routed_family=routed,
            reason="the credited family differs" if one.conflation else "",
        ),
        checks=(SHOWN,) if one.verdict is VerdictLabel.CONTRADICTED else (),
    )


def with_checks(verification: Verification, number: int, *checks: Check) -> Verification:
    """The verification with these checks on the claim of that number, counted from 1."""
    verdict = verification.claims[number - 1]
    assert isinstance(verdict.outcome, Judged)
    return _with_claim(
        verification, number, replace(verdict, outcome=replace(verdict.outcome, checks=checks))
    )


def with_citations(
    verification: Verification, number: int, *citations: CitationFinding
) -> Verification:
    """The verification with these citations on the claim of that number, counted from 1."""
    verdict = verification.claims[number - 1]
    return _with_claim(verification, number, replace(verdict, citations=citations))


def with_support(
    verification: Verification,
    number: int,
    *,
    probability: float,
    review_from: float,
    reasons: int = 1,
) -> Verification:
    """The verification with that support on a claim that ``reasons`` reasons block."""
    verdict = verification.claims[number - 1]
    assert isinstance(verdict.outcome, Judged)
    support = Support(probability=probability, threshold=0.65, review_from=review_from)
    return _with_claim(
        verification,
        number,
        replace(
            verdict,
            outcome=replace(verdict.outcome, support=support),
            reasons=tuple(f"Reason {n}." for n in range(1, reasons + 1)),
        ),
    )


def with_call_read(verification: Verification, number: int, lines: str) -> Verification:
    """The verification with a claim that rests on these lines of its source's call."""
    verdict = verification.claims[number - 1]
    assert isinstance(verdict.outcome, Judged)
    premise = replace(verdict.outcome.premise, text=lines, spans=(), call=lines)
    return _with_claim(
        verification, number, replace(verdict, outcome=replace(verdict.outcome, premise=premise))
    )


def _with_claim(verification: Verification, number: int, verdict: ClaimVerdict) -> Verification:
    claims = list(verification.claims)
    claims[number - 1] = verdict
    return replace(verification, claims=tuple(claims))


# ---------------------------------------------------------------- two traces that screens are shown with

CHART = (
    """Patient: Marisol Okafor (bench-14), female, born 1958-03-09
Problem list
- Type 2 diabetes mellitus, active since 2011
- Heart failure with reduced ejection fraction, active since 2019
Medications
- empagliflozin 10 mg once daily, started 2024-02-12
- metformin 1,000 mg twice daily
Last visit 2024-06-03: weight 71.4 kg, blood pressure 128/76 mmHg, NYHA class II.
"""
    + "\n".join(f"Note {n}: routine telephone contact, nothing changed." for n in range(1, 40))
    + "\nLaboratory summary 2024-06-03: eGFR 54 mL/min/1.73 m2, potassium 4.6 mmol/L, HbA1c 7.4 %.\n"
)
ABSTRACTS = (
    "\n".join(f"[{n}] Invented abstract {n} about sodium handling." for n in range(1, 40))
    + """
[40] Invented Heart Outcomes Trial, 2021. In 3,730 adults with chronic heart failure, \
empagliflozin reduced the combined outcome of cardiovascular death or hospitalisation for heart \
failure compared with placebo. All-cause mortality was not significantly different.
"""
    + "\n".join(f"[{n}] Invented abstract {n}." for n in range(41, 90))
)
METADATA_TEXT = (
    "pmid: 90000017\ntitle: Invented Heart Outcomes Trial\n"
    "journal: Journal of Invented Cardiology\nyear: 2021"
)
METADATA_RAW = (
    '{"note": "é😀", "pmid": "90000017", "title": "Invented Heart Outcomes Trial", '
    '"journal": "Journal of Invented Cardiology", "year": 2021}'
)
ANSWER = """Summary for the patient

According to the patient's chart, empagliflozin reduced the combined outcome of cardiovascular \
death or hospitalisation for heart failure. The patient takes empagliflozin 25 mg once daily. \
She has had heart failure with reduced ejection fraction since 2019.

- All-cause mortality was significantly lower with empagliflozin.
- Her last potassium was 4.6 mmol/L. 😀
- She has a history of ketoacidosis.
- The trial was published in the Journal of Invented Cardiology.
- Renal function should be watched in a setting that the tools could not describe.

This summary does not replace clinical judgement."""

PATIENT, SEARCH, SECOND_SEARCH, METADATA, LAB = (
    "history#1",
    "search#1",
    "search#2",
    "meta#1",
    "lab#1",
)


def showcase(trace_id: str = "clin-0042", **more: object) -> Verification:
    """A trace with every kind of claim and source, verified by hand."""
    year = METADATA_TEXT.index("journal")
    raw = METADATA_RAW.encode()
    at = raw.index(b'"Journal of')
    trace = Trace(
        trace_id=trace_id,
        question="What does empagliflozin do in heart failure, and what does she take now?",
        answer=ANSWER,
        category="chart_plus_literature",
        sources=(
            Source(source_id=PATIENT, tool_name="load_patient_history", text=CHART),
            Source(
                source_id=SEARCH,
                tool_name="search_pubmed_key_words",
                text=ABSTRACTS,
                arguments='{"query": "empagliflozin heart failure"}',
            ),
            Source(
                source_id=SECOND_SEARCH, tool_name="search_pubmed_key_words", text="No results."
            ),
            Source(
                source_id=METADATA,
                tool_name="get_pubmed_article_metadata",
                text=METADATA_TEXT,
                raw=METADATA_RAW,
                structured=True,
                raw_map=(
                    RawRange(
                        text=Span(
                            start=year, end=year + len("journal: Journal of Invented Cardiology")
                        ),
                        raw_start=at,
                        raw_end=at + len('"Journal of Invented Cardiology"'),
                    ),
                ),
            ),
            Source(
                source_id=LAB,
                tool_name="get_lab_results",
                text="Error: timeout",
                status=SourceStatus.ERROR,
                note="The server did not answer in time.",
            ),
        ),
        **more,  # type: ignore[arg-type]
    )
    families = {
        PATIENT: "patient_record",
        SEARCH: "literature",
        SECOND_SEARCH: "literature",
        METADATA: "literature",
        LAB: "lab",
    }
    label = VerdictLabel
    return a_verification(
        trace,
        families,
        [
            Said(
                said="According to the patient's chart, empagliflozin reduced the combined outcome of "
                "cardiovascular death or hospitalisation for heart failure.",
                verdict=label.SUPPORTED,
                source=SEARCH,
                premise="In 3,730 adults with chronic heart failure, empagliflozin reduced the "
                "combined outcome of cardiovascular death or hospitalisation for heart failure "
                "compared with placebo.",
                credits="According to the patient's chart",
                credited="patient_record",
                conflation=True,
                reasons=(
                    "The answer credits the patient record; search_pubmed_key_words (literature) "
                    "says this.",
                ),
            ),
            Said(
                said="The patient takes empagliflozin 25 mg once daily.",
                verdict=label.UNSUPPORTED,
                source=PATIENT,
                premise="- empagliflozin 10 mg once daily, started 2024-02-12",
                reasons=(
                    "“25 mg” was not found in load_patient_history; the nearest there is “10 mg”.",
                ),
                probability=0.22,
            ),
            Said(
                said="She has had heart failure with reduced ejection fraction since 2019.",
                verdict=label.SUPPORTED,
                source=PATIENT,
                premise="- Heart failure with reduced ejection fraction, active since 2019",
            ),
            Said(
                said="All-cause mortality was significantly lower with empagliflozin.",
                verdict=label.CONTRADICTED,
                source=SEARCH,
                premise="All-cause mortality was not significantly different.",
                reasons=(
                    "Search_pubmed_key_words (literature) says otherwise (contradiction 0.89).",
                ),
                probability=0.07,
                weak=("lower",),
            ),
            Said(
                said="Her last potassium was 4.6 mmol/L.",
                verdict=label.SUPPORTED,
                source=PATIENT,
                premise="Laboratory summary 2024-06-03: eGFR 54 mL/min/1.73 m2, potassium "
                "4.6 mmol/L, HbA1c 7.4 %.",
            ),
            Said(
                said="She has a history of ketoacidosis.",
                verdict=label.NOT_ENOUGH_EVIDENCE,
                source=PATIENT,
                premise="- Type 2 diabetes mellitus, active since 2011",
                reasons=("Not confirmed; the closest is load_patient_history (support 0.11).",),
                probability=0.11,
                weak=("ketoacidosis",),
            ),
            Said(
                said="The trial was published in the Journal of Invented Cardiology.",
                verdict=label.SUPPORTED,
                source=METADATA,
                premise="journal: Journal of Invented Cardiology",
            ),
            Said(
                said="Renal function should be watched in a setting that the tools could not describe.",
                verdict=label.UNJUDGED,
                reasons=("Not judged: the NLI model gave no usable reading.",),
            ),
            Said(
                said="This summary does not replace clinical judgement.",
                verdict=None,
                claim_type=ClaimType.BOILERPLATE,
                reasons=("a general disclaimer",),
            ),
        ],
    )


HOSTILE = (
    "![x](http://tracker.invalid/a.png) <script>window.hacked = 1</script> "
    "<img src=http://tracker.invalid/b.png onerror=window.hacked=2> :red[x] :material/home: "
    "$a^2$ [link](javascript:window.hacked=3) **bold** `code` &amp; </div></style>"
)


def hostile() -> Verification:
    """A trace whose every field tries to become markup, to run, or to fetch something."""
    answer = f"{HOSTILE} is what it says. And once more: {HOSTILE} indeed."
    trace = Trace(
        trace_id=HOSTILE,
        question=HOSTILE,
        answer=answer,
        category=HOSTILE,
        notices=(HOSTILE,),
        extra={"slices": [HOSTILE]},
        sources=(
            Source(
                source_id=f"{HOSTILE}#1",
                tool_name=HOSTILE,
                text=f"Before. {HOSTILE} is what it says. After.",
                server=HOSTILE,
                arguments=HOSTILE,
                uri="http://tracker.invalid/c",
                note=HOSTILE,
                raw=f'{{"x": "{HOSTILE}"}}',
                structured=True,
            ),
        ),
    )
    return a_verification(
        trace,
        {f"{HOSTILE}#1": "web"},
        [
            Said(
                said=f"{HOSTILE} is what it says.",
                verdict=VerdictLabel.CONTRADICTED,
                source=f"{HOSTILE}#1",
                premise=f"{HOSTILE} is what it says.",
                reasons=(HOSTILE,),
                credits=HOSTILE,
                credited="web",
            ),
            Said(
                said=f"And once more: {HOSTILE} indeed.",
                verdict=VerdictLabel.UNJUDGED,
                reasons=(HOSTILE,),
            ),
        ],
    )


def fill(store: SqlStore, *verifications: Verification, unverified: Sequence[Trace] = ()) -> None:
    """Keep verified and unverified traces in a real database."""
    store.put_traces([*(each.trace for each in verifications), *unverified])
    store.put_verdicts(
        run_key(VERSIONS),
        [replace(each, content_hash=content_hash(each.trace)) for each in verifications],
    )
