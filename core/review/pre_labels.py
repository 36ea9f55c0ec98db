"""Pre-labels: what two judges made of a claim (``label``), shown to a reviewer after their own answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from core.codec import Fields
from core.errors import BadRecord
from core.records import JsonObject, VerdictLabel
from core.review.packet_fields import read_object, read_optional
from core.review.records import Judgement

FIELD = "pre_label"
PRE_LABELS = "the pre-labels"  # what the two judges are called beside reviewers


@dataclass(frozen=True, slots=True, kw_only=True)
class PreLabel:
    """The label that two judges' prompts came to; ``document`` is the row's ``pre_label`` as it came."""

    label: VerdictLabel
    source_id: str | None
    conflation: bool | None
    agreed: bool
    judges: tuple[str, ...]
    why: str
    document: JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledClaim:
    """A row's claim with its pre-label; ``content_hash`` is None where the row does not say it."""

    claim_id: str
    trace_id: str
    text: str
    content_hash: str | None
    made: PreLabel


def pre_label_of(document: JsonObject) -> PreLabel | None:
    """The pre-label that a document tells; None for one without a label. Raises BadRecord."""
    read = Fields(document, FIELD)
    if document.get("label") is None:
        return None
    readings: Any = document.get("readings") or []
    told = [one for one in readings if isinstance(one, Mapping)]
    names = (str(one.get("by", "")).partition("#")[0] for one in told)
    label = read.read(VerdictLabel, "label")
    why = next((one.get("why") for one in told if one.get("label") == label.value), "")
    right = document.get("conflation")
    return PreLabel(
        label=label,
        source_id=read.optional_string("source_id"),
        conflation=right if isinstance(right, bool) else None,
        agreed=document.get("status") == "agreement",
        judges=tuple(dict.fromkeys(name for name in names if name)),
        why=str(why or "")[:600],
        document=document,
    )


def labelled_claim(record: JsonObject) -> LabelledClaim | None:
    """The claim of a packet's row with its pre-label; None for one without. Raises BadRecord."""
    if not isinstance(record.get(FIELD), Mapping):
        raise BadRecord("no pre-label: `label` makes them", path=FIELD)
    made = pre_label_of(read_object(record, FIELD, FIELD).value)
    read = Fields(record, "")
    more = record.get("review_record")
    extra: Mapping[str, object] = more if isinstance(more, Mapping) else {}
    if made is None:
        return None
    return LabelledClaim(
        claim_id=read_optional(extra, "claim_id") or read.string("claim_id"),
        trace_id=read.string("trace_id"),
        text=read.string("claim"),
        content_hash=read_optional(extra, "content_hash"),
        made=made,
    )


def told_after(made: PreLabel, said: Judgement) -> str:
    """The pre-label in a sentence for whoever has decided, and whether it is what they said."""
    same = ", as you did" if said.support is made.label else ", unlike you"
    how = "the judges differ, and this goes first" if len(made.judges) > 1 else "imported"
    how = "both judges say so" if made.agreed else how
    names = " and ".join(made.judges)
    words = made.label.value.replace("_", " ")
    return f"Pre-label: {words}{same}; {how}{names and f' ({names})'}. {made.why}".rstrip()
