"""Frozen records that pass between stages. Spans are half-open code-point ranges ``[start, end)``.

Read in order (trace, claims, measurements, evidence, decisions, edits, repair), this is the life of
a claim: a trace comes in with its sources, the answer is split into claims, each is routed, read,
aligned, checked, calibrated, attributed and decided.
"""

from core.records.against import Against, ContradictedShare
from core.records.basics import (
    AttributionStatus,
    ClaimType,
    Decision,
    JsonObject,
    Relation,
    SourceStatus,
    Span,
    VerdictLabel,
)
from core.records.citations import (
    CitationFinding,
    CitationKind,
    CitationOutcome,
    CitedPlace,
)
from core.records.claims import Claim, ProtectedValue, StatedAttribution
from core.records.decisions import (
    AnswerDecision,
    Attribution,
    ClaimVerdict,
    Features,
    Judged,
    Measurements,
    OtherSource,
    SetAside,
    Support,
    Unjudged,
    Verification,
    Versions,
)
from core.records.edits import (
    RepairAction,
    RepairKind,
    RepairOutcome,
    RepairSavings,
    RepairStatus,
)
from core.records.evidence import Check, Derivation, FactPlace, Outcome
from core.records.imports import FileCount, IngestReport, ToolCount
from core.records.measurements import (
    AlignedToken,
    Alignment,
    CheckedValue,
    Entailment,
    LiteralCheck,
    PairReading,
    Premise,
    Probabilities,
    RankedSource,
    Route,
    TokenScore,
)
from core.records.repair import EditorFailure, EditorText, EditRequest, Repair
from core.records.shown import (
    ABSENCE_FEATURE,
    CLOSE_FEATURE,
    CLOSE_READ_FEATURE,
    SHOWN_FEATURE,
    ShownShare,
)
from core.records.summary import VerdictSummary, summarise
from core.records.trace import Citation, Origin, RawRange, Source, Trace

__all__ = [
    "ABSENCE_FEATURE",
    "CLOSE_FEATURE",
    "CLOSE_READ_FEATURE",
    "SHOWN_FEATURE",
    "Against",
    "AlignedToken",
    "Alignment",
    "AnswerDecision",
    "Attribution",
    "AttributionStatus",
    "Check",
    "CheckedValue",
    "Citation",
    "CitationFinding",
    "CitationKind",
    "CitationOutcome",
    "CitedPlace",
    "Claim",
    "ClaimType",
    "ClaimVerdict",
    "ContradictedShare",
    "Decision",
    "Derivation",
    "EditRequest",
    "EditorFailure",
    "EditorText",
    "Entailment",
    "FactPlace",
    "Features",
    "FileCount",
    "IngestReport",
    "JsonObject",
    "Judged",
    "LiteralCheck",
    "Measurements",
    "Origin",
    "OtherSource",
    "Outcome",
    "PairReading",
    "Premise",
    "Probabilities",
    "ProtectedValue",
    "RankedSource",
    "RawRange",
    "Relation",
    "Repair",
    "RepairAction",
    "RepairKind",
    "RepairOutcome",
    "RepairSavings",
    "RepairStatus",
    "Route",
    "SetAside",
    "ShownShare",
    "Source",
    "SourceStatus",
    "Span",
    "StatedAttribution",
    "Support",
    "TokenScore",
    "ToolCount",
    "Trace",
    "Unjudged",
    "VerdictLabel",
    "VerdictSummary",
    "Verification",
    "Versions",
    "summarise",
]
