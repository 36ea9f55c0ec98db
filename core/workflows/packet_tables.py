"""The packet as tables: one row a claim, one row a reading, as CSV and Parquet."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from core.review.packet import RELATION_OF
from core.review.records import ReviewedClaim

Cell = str | int | float | bool | datetime | None
Row = Mapping[str, Cell]

TEXT, WHOLE, NUMBER, FLAG, TIME = (
    pa.string(),
    pa.int64(),
    pa.float64(),
    pa.bool_(),
    pa.timestamp("us", tz="UTC"),
)

# Name → type and what it means; the README of a packet is written from the same words.
CLAIM_COLUMNS: Mapping[str, tuple[pa.DataType, str]] = {
    "claim_id": (TEXT, "The claim: trace id, then its number in the answer."),
    "trace_id": (TEXT, "The captured answer that the claim is from."),
    "claim": (TEXT, "The claim, completed where the answer alone would not be understood."),
    "category": (TEXT, "The trace's category, as captured."),
    "slices": (TEXT, "The named subsets that the trace belongs to, separated by semicolons."),
    "split": (TEXT, "train, validation or held_out, where somebody has said so."),
    "status": (
        TEXT,
        "single (one reading), unanimous (the readings agree), adjudicated (a third person "
        "decided), unresolved (the readings differ: no label).",
    ),
    "label": (
        TEXT,
        "What stands: supported, unsupported, contradicted, not_enough_evidence; empty while "
        "unresolved.",
    ),
    "relation": (TEXT, "The label as a relation: entailment, neutral or contradiction."),
    "source_id": (TEXT, "The source that says it; empty when no source does."),
    "conflation": (FLAG, "Whether the answer credits another source; empty when nobody said."),
    "readings": (WHOLE, "How many people have read the claim."),
    "adjudicator": (TEXT, "Who decided, where the readings differed."),
    "cause": (TEXT, "Why the readings differed, as the adjudicator saw it."),
    "decided_at": (TIME, "When the label came about, in UTC."),
    "inclusion_probability": (
        NUMBER,
        "The probability with which the claim was drawn for the random audit; empty when it was "
        "queued for another reason. Rates over all claims need these rows alone.",
    ),
    "guideline_version": (WHOLE, "The newest version of the guideline that a reader had."),
    "machine_verdict": (TEXT, "What the verifier said."),
    "machine_decision": (TEXT, "Whether the verifier blocked the claim."),
    "machine_source_id": (TEXT, "The source that the verifier checked the claim against."),
    "machine_probability": (NUMBER, "The verifier's probability that this source supports it."),
    "machine_threshold": (NUMBER, "The threshold that the probability was held against."),
}
VOTE_COLUMNS: Mapping[str, tuple[pa.DataType, str]] = {
    "claim_id": (TEXT, "The claim that was read."),
    "trace_id": (TEXT, "The captured answer that it is from."),
    "slot": (WHOLE, "First or second reading."),
    "reviewer": (TEXT, "Who read it."),
    "at": (TIME, "When the judgement was given, in UTC."),
    "support": (TEXT, "Is it supported: the reviewer's answer."),
    "source_id": (TEXT, "Who owns it: the source that the reviewer chose; empty for none."),
    "conflation": (FLAG, "Whether the answer credits another source; empty when not said."),
    "confidence": (WHOLE, "1 (a guess) to 5 (certain); empty when not said."),
    "rationale": (TEXT, "The reviewer's reason, in their words."),
    "saw_model_output": (FLAG, "Whether the verifier's view was shown before this judgement."),
    "changed_after_reveal": (FLAG, "Whether the judgement was changed after the reveal."),
    "first_support": (TEXT, "The judgement before the reveal, where one was made."),
    "first_source_id": (TEXT, "The source chosen before the reveal."),
    "seconds": (NUMBER, "Seconds from the claim's appearance to the first judgement."),
    "queue_reason": (TEXT, "Why the claim was offered to this reviewer."),
    "inclusion_probability": (NUMBER, "The probability of the random draw; empty when not drawn."),
    "guideline_version": (WHOLE, "The version of the guideline that the reviewer had."),
}

# A spreadsheet takes a cell that begins like this for a formula, and runs it.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def claim_cells(claim: ReviewedClaim) -> Row:
    """One claim as a row of CLAIM_COLUMNS."""
    final, signal, decided = claim.resolution.final, claim.signal, claim.adjudication
    return {
        "claim_id": claim.claim_id,
        "trace_id": claim.trace_id,
        "claim": claim.text,
        "category": claim.category,
        "slices": "; ".join(claim.slices) or None,
        "split": claim.split.value if claim.split else None,
        "status": claim.resolution.status.value,
        "label": final.support.value if final else None,
        "relation": RELATION_OF[final.support].value if final else None,
        "source_id": final.source_id if final else None,
        "conflation": final.conflation if final else None,
        "readings": len(claim.annotations),
        "adjudicator": decided.reviewer if decided else None,
        "cause": decided.cause.value if decided else None,
        "decided_at": decided_at(claim),
        "inclusion_probability": claim.inclusion_probability,
        "guideline_version": max(
            [vote.guideline_version for vote in claim.annotations]
            + ([decided.guideline_version] if decided else []),
            default=None,
        ),
        "machine_verdict": signal.verdict.value if signal and signal.verdict else None,
        "machine_decision": signal.decision.value if signal else None,
        "machine_source_id": signal.routed_source_id if signal else None,
        "machine_probability": signal.probability if signal else None,
        "machine_threshold": signal.threshold if signal else None,
    }


def decided_at(claim: ReviewedClaim) -> datetime | None:
    """When the tie-break was made, else when the last reading was."""
    if claim.adjudication is not None:
        return claim.adjudication.at
    return max((vote.at for vote in claim.annotations), default=None)


def vote_cells(claim: ReviewedClaim) -> list[Row]:
    """The readings of one claim as rows of VOTE_COLUMNS."""
    return [
        {
            "claim_id": claim.claim_id,
            "trace_id": claim.trace_id,
            "slot": vote.slot,
            "reviewer": vote.reviewer,
            "at": vote.at,
            "support": vote.judgement.support.value,
            "source_id": vote.judgement.source_id,
            "conflation": vote.judgement.conflation,
            "confidence": vote.confidence,
            "rationale": vote.rationale,
            "saw_model_output": vote.saw_model_output,
            "changed_after_reveal": vote.changed_after_reveal,
            "first_support": vote.first.support.value if vote.first else None,
            "first_source_id": vote.first.source_id if vote.first else None,
            "seconds": vote.seconds,
            "queue_reason": vote.queue_reason.value,
            "inclusion_probability": vote.inclusion_probability,
            "guideline_version": vote.guideline_version,
        }
        for vote in claim.annotations
    ]


def write_csv(path: Path, columns: Iterable[str], rows: Iterable[Row]) -> None:
    """Write rows as CSV that a spreadsheet opens as text, never as formulas."""
    names = list(columns)
    # The mark at the start is how Excel knows UTF-8.
    with path.open("w", newline="", encoding="utf-8-sig", errors="replace") as stream:
        writer = csv.writer(stream)
        writer.writerow(names)
        writer.writerows([csv_cell(row[name]) for name in names] for row in rows)


def csv_cell(value: Cell) -> str:
    """A cell's text; one that would be a formula gets an apostrophe in front, in CSV alone."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)  # a number of ours: a minus sign is none of a formula
    if isinstance(value, datetime):
        return value.isoformat()
    text = value.replace("\x00", "␀")
    return f"'{text}" if text.lstrip(" ").startswith(FORMULA_STARTS) else text


def write_parquet(
    path: Path, columns: Mapping[str, tuple[pa.DataType, str]], rows: Sequence[Row]
) -> None:
    """Write rows as Parquet: the same columns with their types, every text exactly as it is."""
    schema = pa.schema([pa.field(name, kind) for name, (kind, _) in columns.items()])
    table = pa.Table.from_pylist([{n: _exact(row[n]) for n in columns} for row in rows], schema)
    pq.write_table(table, path, compression="zstd")


def _exact(value: Cell) -> Cell:
    # Parquet holds UTF-8, which has no lone surrogates; the JSON Lines have them escaped.
    return value.encode("utf-8", "replace").decode("utf-8") if isinstance(value, str) else value
