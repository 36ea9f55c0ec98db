"""Evidence objects that lattice claims point at: a short pointer for the model, a lasting id for us."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from core.citations.lenient_json import text_fields
from core.errors import InputError
from core.records import Source

DEFAULT_ROLE = "unclassified"
ALLOWED_ROLES = frozenset(
    {
        "primary_answer_source",
        "secondary_context_source",
        "background_source",
        "complete_tool_output",
        DEFAULT_ROLE,
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceObject:
    """One stretch of evidence; ``evidence_id`` is a digest of what it is, ``pointer`` its name in a run.

    ``source_root`` is the id of the document that it was cut from, ``span`` the text itself.
    """

    pointer: str
    evidence_id: str
    span: str
    source_root: str
    title: str = ""
    source_role: str = DEFAULT_ROLE


def evidence_object(
    pointer: str, span: str, *, source_root: str, title: str = "", source_role: str = DEFAULT_ROLE
) -> EvidenceObject:
    """An evidence object with the id that its document and text give it."""
    content = f"{source_root}\0{span}".encode("utf-8", errors="surrogatepass")
    return EvidenceObject(
        pointer=pointer,
        evidence_id=f"ev-{hashlib.sha256(content).hexdigest()[:16]}",
        span=span,
        source_root=source_root,
        title=title,
        source_role=source_role,
    )


def evidence_of_sources(sources: Sequence[Source]) -> tuple[EvidenceObject, ...]:
    """One evidence object a source that may be evidence, E1, E2 … in the order of the trace."""
    usable = [source for source in sources if source.is_evidence]
    return tuple(
        evidence_object(
            f"E{number}",
            source.text,
            source_root=source.source_id,
            title=str(source.extra.get("title") or ""),
            source_role=source.source_role or DEFAULT_ROLE,
        )
        for number, source in enumerate(usable, start=1)
    )


def read_evidence(items: object) -> tuple[EvidenceObject, ...]:
    """The evidence objects of a JSON list; InputError names the place of the first that is wrong."""
    if not isinstance(items, list):
        raise InputError("expected a list of evidence objects", path="evidence")
    found = [_read(item, f"evidence[{number}]", number) for number, item in enumerate(items)]
    pointers = [one.pointer for one in found]
    for place, pointer in enumerate(pointers):
        if pointer in pointers[:place]:
            raise InputError(f"the pointer {pointer} stands twice", path="evidence")
    return tuple(found)


def _read(item: object, path: str, number: int) -> EvidenceObject:
    names = ("pointer", "span", "source_root", "title", "source_role")
    fields = text_fields(item, names, path)
    if not fields["span"].strip():
        raise InputError("expected the evidence's text", path=f"{path}.span")
    pointer = fields["pointer"] or f"E{number + 1}"
    return evidence_object(
        pointer,
        fields["span"],
        source_root=fields["source_root"] or pointer,
        title=fields["title"],
        source_role=fields["source_role"] or DEFAULT_ROLE,
    )
