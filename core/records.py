"""Frozen records that pass between stages. Spans are half-open code-point ranges ``[start, end)``.

Read top to bottom, this is the life of a claim: a trace comes in with its sources, the answer is
split into claims, each is routed, read, aligned, checked, calibrated, attributed and decided.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

JsonObject = Mapping[str, object]


class Decision(StrEnum):
    """What happens to a claim or an answer (III.7); only answers can be unavailable."""

    ALLOW = "allow"
    BLOCK = "block"
    UNAVAILABLE = "unavailable"


class ClaimType(StrEnum):
    """What a stretch of the answer is; only factual claims are judged (III.2)."""

    FACTUAL = "factual"
    BOILERPLATE = "boilerplate"
    META = "meta"
    OPINION = "opinion"
    QUESTION = "question"
    ADVICE = "advice"


class SourceStatus(StrEnum):
    """Whether a tool output can be evidence: only ``ok`` and ``truncated`` can."""

    OK = "ok"
    ERROR = "error"
    EMPTY = "empty"
    TRUNCATED = "truncated"
    NOT_CAPTURED = "not_captured"


class Relation(StrEnum):
    """What the premise says about the claim (III.4)."""

    ENTAILMENT = "entailment"
    NEUTRAL = "neutral"
    CONTRADICTION = "contradiction"


class VerdictLabel(StrEnum):
    """The four factual verdicts of the paper, and not having been judged."""

    SUPPORTED = "supported"
    UNSUPPORTED = "unsupported"
    CONTRADICTED = "contradicted"
    NOT_ENOUGH_EVIDENCE = "not_enough_evidence"
    UNJUDGED = "unjudged"


class AttributionStatus(StrEnum):
    """How the stated or implied source compares with the routed one (III.6)."""

    MATCH = "match"
    CONFLATION = "conflation"
    UNAVAILABLE = "unavailable"
    NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A half-open range of code points ``[start, end)`` of the text that its holder names."""

    start: int
    end: int

    def cut(self, text: str) -> str:
        """The part of ``text`` that this span covers."""
        return text[self.start : self.end]

    def overlaps(self, other: Span) -> bool:
        """Whether the two ranges share a code point."""
        return self.start < other.end and other.start < self.end


# ---------------------------------------------------------------- trace (III.1)


@dataclass(frozen=True, slots=True, kw_only=True)
class RawRange:
    """Where a stretch of a source's readable text came from: bytes of its raw output, UTF-8."""

    text: Span
    raw_start: int
    raw_end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One provenance object of a trace: ``text`` is the readable text the verifier works on.

    ``raw`` is the output as captured where ``text`` was made from structure (JSON, FHIR, a
    language's object repr), with ``raw_map`` from text ranges to byte ranges of ``raw``; where the
    text is the output itself, ``raw`` is None and the map is empty. ``note`` says what a reader
    must know: why it is not evidence, what was left out (an image), how it was unwrapped.
    """

    source_id: str
    tool_name: str
    text: str
    status: SourceStatus = SourceStatus.OK
    server: str | None = None
    call_id: str | None = None
    arguments: str | None = None
    source_role: str | None = None
    chunk_count: int | None = None
    uri: str | None = None
    structured: bool = False
    raw: str | None = None
    raw_map: tuple[RawRange, ...] = ()
    note: str | None = None
    extra: JsonObject = field(default_factory=dict)

    @property
    def is_evidence(self) -> bool:
        """Whether a claim may rest on it."""
        return self.status in (SourceStatus.OK, SourceStatus.TRUNCATED) and bool(self.text.strip())


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """A source that the answer cites by markup or annotation, captured with the trace.

    ``span`` is the stretch of the answer it covers; ``source_id`` is set when it resolved to one of
    the trace's sources; ``text`` is the marker or title shown to a person.
    """

    span: Span
    text: str
    source_id: str | None
    url: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where a trace was read from."""

    format: str
    version: str | None = None
    file: str | None = None
    line: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """A question, the agent's answer, and every tool output behind it (III.1).

    ``answer`` is None when none was captured. ``notices`` say what the importer could not keep as
    evidence and why. ``extra`` holds unknown fields of the record, exported again as they came.
    """

    trace_id: str
    question: str
    answer: str | None
    sources: tuple[Source, ...]
    category: str | None = None
    route: str | None = None
    tool_calls: tuple[str, ...] = ()
    citations: tuple[Citation, ...] = ()
    elapsed_seconds: float | None = None
    origin: Origin | None = None
    notices: tuple[str, ...] = ()
    extra: JsonObject = field(default_factory=dict)

    def source(self, source_id: str) -> Source:
        """The source of that id; KeyError when the trace has none."""
        for source in self.sources:
            if source.source_id == source_id:
                return source
        raise KeyError(source_id)


# ---------------------------------------------------------------- claims (III.2)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtectedValue:
    """A literal that can change a claim's meaning; ``span`` is in the claim's text (III.2, III.4).

    ``kind`` is one of number, percent, dose, date, time, currency, identifier, quoted, name.
    ``normalised`` is what is compared. ``identity`` is True for values that name a person or a
    record (patient name, MRN, NCT number, PMID …): the routed source must be about them.
    """

    text: str
    span: Span
    kind: str
    normalised: str
    identity: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedAttribution:
    """The stretch of the answer that credits a source; ``span`` is in the answer.

    ``family`` is a family id of families.toml, None when the words name no known family;
    ``source_id`` is set when one source of the trace is meant (a citation, a tool's own name), and
    ``also`` names others that the same words mean: records of the same publication, a second mark.
    """

    text: str
    span: Span
    family: str | None
    source_id: str | None = None
    also: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One checkable proposition of the answer.

    ``said == answer[span.start:span.end]`` is the smallest place that says it; ``text`` may add
    context (a carried-over subject) so that it stands alone. ``subject`` is the person or record the
    claim is about, in its own words, when one is known from the claim or carried over. ``reason``
    says why a non-factual stretch was set aside, or why a factual one will not be judged
    (``beyond_limit``).
    """

    claim_id: str
    text: str
    span: Span
    said: str
    claim_type: ClaimType = ClaimType.FACTUAL
    stated: StatedAttribution | None = None
    protected_values: tuple[ProtectedValue, ...] = ()
    patient_specific: bool = False
    subject: str | None = None
    reason: str | None = None
    beyond_limit: bool = False


# ---------------------------------------------------------------- readings and routing (III.3, III.4)


@dataclass(frozen=True, slots=True, kw_only=True)
class Premise:
    """Claim-relevant evidence of one source: ``text`` joins ``source.text[span]`` with newlines."""

    source_id: str
    text: str
    spans: tuple[Span, ...]
    truncated: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Probabilities:
    """P(entailment), P(neutral), P(contradiction); rounded to 4 decimals."""

    entailment: float
    neutral: float
    contradiction: float

    @property
    def relation(self) -> Relation:
        """The most probable relation; ties go to the more cautious one."""
        if self.contradiction >= max(self.entailment, self.neutral):
            return Relation.CONTRADICTION
        return Relation.NEUTRAL if self.neutral >= self.entailment else Relation.ENTAILMENT

    def of(self, relation: Relation) -> float:
        """The probability of one relation."""
        return {
            Relation.ENTAILMENT: self.entailment,
            Relation.NEUTRAL: self.neutral,
            Relation.CONTRADICTION: self.contradiction,
        }[relation]


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenScore:
    """The alignment score ``a_i`` of one word of the claim (III.4); ``span`` is in the claim's text."""

    span: Span
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PairReading:
    """One forward pass over (premise, claim): label probabilities and the alignment vector."""

    probabilities: Probabilities
    tokens: tuple[TokenScore, ...]
    premise_truncated: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedSource:
    """One candidate of a claim with its route score; ``probabilities`` where it was read."""

    source_id: str
    score: float
    probabilities: Probabilities | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """The source that a claim is checked against, and how the others ranked (III.3).

    ``margin`` is the lead over the second source; a lone source's margin is its score (App. B).
    """

    source_id: str
    tool_name: str
    family: str
    score: float
    margin: float
    ranking: tuple[RankedSource, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entailment:
    """The relation that one reading gives, before lexical rescue (III.4)."""

    relation: Relation
    probabilities: Probabilities

    @property
    def score(self) -> float:
        """The probability of the predicted relation (``pred_score`` of App. B)."""
        return self.probabilities.of(self.relation)


@dataclass(frozen=True, slots=True, kw_only=True)
class AlignedToken:
    """One claim word with its attention-derived score, and whether it is weakly grounded."""

    text: str
    span: Span
    score: float
    weak: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Alignment:
    """Where the claim's words are grounded; the ratio is over non-stopword words (III.4)."""

    tokens: tuple[AlignedToken, ...]
    supported_token_ratio: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedValue:
    """A literal of a claim and whether the premise holds it; ``nearest`` is the closest one there.

    ``settles`` is False for a missing one that the source may well say in other words (a name, a
    small count, a bound): it lowers the support and does not block the claim by itself.
    """

    value: ProtectedValue
    present: bool
    nearest: str | None = None
    settles: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class LiteralCheck:
    """Protected values, identity and lexical overlap of a claim with its premise (III.4).

    ``relation`` is the relation after lexical rescue; ``rescued`` says whether it changed.
    ``identity_mismatches`` are the claim's identity values that the routed source does not hold.
    """

    values: tuple[CheckedValue, ...]
    identity_mismatches: tuple[str, ...]
    term_overlap: float
    relation: Relation
    rescued: bool

    @property
    def missing(self) -> tuple[CheckedValue, ...]:
        """The protected values that the premise does not hold: each blocks the claim."""
        return tuple(value for value in self.values if not value.present and value.settles)

    @property
    def unwritten(self) -> tuple[CheckedValue, ...]:
        """The literals that the premise does not write, and may say in other words."""
        return tuple(value for value in self.values if not value.present and not value.settles)


# ---------------------------------------------------------------- decision (III.5 - III.7)


@dataclass(frozen=True, slots=True, kw_only=True)
class Features:
    """The calibrator's input, with the names of Appendix B."""

    categorical: Mapping[str, str]
    numeric: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Support:
    """The calibrated support decision for the routed source: probability ≥ threshold, nothing else."""

    probability: float
    threshold: float

    @property
    def supported(self) -> bool:
        """Whether the probability reaches the threshold."""
        return self.probability >= self.threshold


@dataclass(frozen=True, slots=True, kw_only=True)
class Attribution:
    """Whether the answer credits the source that supports the claim (III.6)."""

    status: AttributionStatus
    stated_family: str | None
    routed_family: str | None
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherSource:
    """A source besides the routed one that was read and holds every literal of the claim.

    It may say the claim too, so that its features are kept: another calibrator can then tell.
    """

    source_id: str
    features: Features


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """Everything the stages left about one claim."""

    route: Route
    premise: Premise
    entailment: Entailment
    alignment: Alignment
    literals: LiteralCheck
    features: Features
    support: Support
    attribution: Attribution
    others: tuple[OtherSource, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Unjudged:
    """A factual claim that no stage could judge; it blocks (III.7)."""

    stage: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SetAside:
    """A stretch of the answer that claims nothing checkable; it is allowed."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimVerdict:
    """A claim, what was found, and what follows from it; ``reasons`` most serious first."""

    claim: Claim
    outcome: Judged | Unjudged | SetAside
    verdict: VerdictLabel | None
    decision: Decision
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerDecision:
    """The answer's gate (III.7)."""

    decision: Decision
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Versions:
    """What produced a verification; the same trace, versions and machine give the same bytes."""

    pipeline: str
    config_sha256: str
    embedder: str
    pair_reader: str
    precision: str
    calibrator: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """A verified trace: the paper's per-claim source verdicts and the answer-level decision."""

    trace: Trace
    families: Mapping[str, str]
    claims: tuple[ClaimVerdict, ...]
    answer: AnswerDecision
    versions: Versions
    latency_seconds: Mapping[str, tuple[float, ...]]


# ---------------------------------------------------------------- repair (III.8)


class RepairKind(StrEnum):
    """What an edit does, least destructive first; a mend only tidies up after other edits."""

    MEND = "mend"
    ATTRIBUTION = "attribution"
    VALUE = "value"
    QUALIFIER = "qualifier"
    REWORD = "reword"
    PRUNE = "prune"
    FALLBACK = "fallback"


class RepairStatus(StrEnum):
    """How a repair ended; only the first four leave an answer that may be shown."""

    NOT_NEEDED = "not_needed"  # the answer was allowed as it was
    CORRECTED = "corrected"  # every claim is still there, corrected
    PRUNED = "pruned"  # something had to be taken out, and something supported is left
    FALLBACK = "fallback"  # nothing verifiable was left: a conservative non-claim stands instead
    UNRESOLVED = "unresolved"  # the revised answer did not pass the verifier: still blocked
    UNAVAILABLE = "unavailable"  # no answer, or no evidence to repair it from


@dataclass(frozen=True, slots=True, kw_only=True)
class EditRequest:
    """All that a language-model editor ever sees of a trace."""

    claim: str
    premise: str
    verdict: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EditorText:
    """A rewording that an editor gave; the verifier has yet to judge it."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EditorFailure:
    """Why an editor gave no usable rewording; the rules write the text instead."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairAction:
    """One edit of the answer: ``before == answer[span.start:span.end]`` becomes ``after``.

    ``evidence`` are spans in the text of the source ``source_id``, on which the edit rests. ``editor``
    says who wrote ``after``: "rules" or the name of a language model; ``note`` says what else a
    reviewer must know (why a configured model was not used).
    """

    action_id: str
    kind: RepairKind
    claim_ids: tuple[str, ...]
    span: Span
    before: str
    after: str
    reason: str
    source_id: str | None
    evidence: tuple[Span, ...]
    editor: str
    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Repair:
    """What became of a blocked answer; ``after`` is the verifier's word on the revised one.

    ``actions`` are edits of the original answer in its order, without overlap; ``rounds`` counts the
    calls of the verifier. Without a revised answer there is no ``after``.
    """

    status: RepairStatus
    actions: tuple[RepairAction, ...]
    revised_answer: str | None
    before: Verification
    after: Verification | None
    rounds: int
