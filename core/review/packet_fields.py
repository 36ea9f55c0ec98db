"""Fields of a packet line, each checked; a wrong one is named in the error."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TypeVar

from core.codec import Fields
from core.errors import BadRecord
from core.records import VerdictLabel
from core.review.records import (
    SUPPORT_LABELS,
    Cause,
    Exposure,
    Judgement,
    Passage,
    QueueReason,
    ReviewStatus,
    Unfit,
)

Choice = TypeVar("Choice", ReviewStatus, QueueReason, Cause, VerdictLabel)


def read_judgement(read: Fields) -> Judgement:
    """Support, source and attribution, as a person judged them."""
    if read_flag(read, "not_a_claim"):
        correction = read.optional_string("correction") or ""
        return Judgement(
            support=Unfit.NOT_A_CLAIM,
            source_id=None,
            correction=correction,
            passages=read.read(tuple[Passage, ...] | None, "passages") or (),
        )
    support = read_choice(read, "support", VerdictLabel)
    if support not in SUPPORT_LABELS:
        raise BadRecord("unjudged is no judgement of a person", path=read.at("support"))
    source_id = read.optional_string("source_id")
    more = read.read(tuple[str, ...] | None, "more_source_ids") or ()
    if more and (source_id is None or len({source_id, *more}) <= len(more)):
        raise BadRecord(
            "further sources stand beside a first one, each once", path=read.at("more_source_ids")
        )
    return Judgement(
        support=support,
        source_id=source_id,
        conflation=read_flag(read, "conflation"),
        more_source_ids=more,
        passages=read.read(tuple[Passage, ...] | None, "passages") or (),
    )


def read_exposures(kept: Fields) -> tuple[Exposure, ...]:
    """What of the machine's view was visible, since when."""
    return tuple(
        Exposure(what=each.string("what"), at=read_moment(each, "at"))
        for each in read_objects(kept.value, "exposures", kept.at("exposures"))
    )


def read_confidence(annotation: Fields) -> int | None:
    """From 1 to 5, or None."""
    value: int | None = annotation.read(int | None, "confidence")
    if value is not None and not 1 <= value <= 5:
        raise BadRecord(f"expected 1 to 5, found {value}", path=annotation.at("confidence"))
    return value


def read_name(read: Fields, key: str) -> str:
    """A name that says something."""
    name = read.string(key)
    if not name.strip():
        raise BadRecord("expected a name, found only blanks", path=read.at(key))
    return name


def read_flag(read: Fields, key: str) -> bool | None:
    """True, false, or None where nothing is said."""
    value = read.value.get(key)
    if value is not None and not isinstance(value, bool):
        raise read.wrong(key, "true, false or null")
    return value


def read_moment(read: Fields, key: str) -> datetime:
    """A time with its offset."""
    text = read.string(key)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise BadRecord(f"expected a time with its zone, found {text!r:.60}", path=read.at(key))
    return moment


def read_optional(value: Mapping[str, object], key: str) -> str | None:
    """A text, or None."""
    found = value.get(key)
    return found if isinstance(found, str) else None


def read_object(value: Mapping[str, object], key: str, path: str) -> Fields:
    """The object under a key."""
    found = value.get(key)
    if not isinstance(found, Mapping):
        raise BadRecord("expected an object", path=path)
    return Fields(found, path)


def read_objects(value: Mapping[str, object], key: str, path: str) -> list[Fields]:
    """The objects of the list under a key."""
    found = value.get(key)
    if not isinstance(found, list):
        raise BadRecord("expected a list", path=path)
    return [read_object({"": each}, "", f"{path}[{index}]") for index, each in enumerate(found)]


def read_choice(read: Fields, key: str, kind: type[Choice]) -> Choice:
    """A member of the enumeration."""
    text = read.string(key)
    for choice in kind:
        if choice.value == text:
            return choice
    expected = ", ".join(choice.value for choice in kind)
    raise BadRecord(f"expected one of {expected}, found {text!r:.60}", path=read.at(key))
