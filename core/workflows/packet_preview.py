"""preview_packet: what will be in a packet, file by file, before it is written and told of."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from core.review.records import Person
from core.workflows.manifest import MANIFEST
from core.workflows.packet_files import write_files
from core.workflows.packet_readme import PACKET, TRACES, PacketFormat, files_of
from core.workflows.packet_selection import ExportFilters, PacketStore, Selection

HEAD_CHARACTERS = 3_000


@dataclass(frozen=True, slots=True, kw_only=True)
class PreviewedFile:
    """A file of the packet: what it holds, its rows where they are known, and how it begins.

    ``head`` is of a packet of the first trace alone, cut; "" for what is no text, and for the
    manifest, which is another one for the whole packet.
    """

    name: str
    words: str
    rows: int | None
    head: str
    cut: bool


def preview_packet(
    store: PacketStore,
    user: Person,
    chosen: Selection,
    *,
    at: datetime,
    filters: ExportFilters,
    formats: frozenset[PacketFormat],
) -> tuple[PreviewedFile, ...]:
    """The files that these claims make: written for the first trace, read, and thrown away.

    Nothing is exported and no event is kept; raises NotFound, StoreError.
    """
    if not chosen.claims:
        return ()
    first = tuple(
        claim for claim in chosen.claims if claim.content_hash == chosen.claims[0].content_hash
    )
    with tempfile.TemporaryDirectory(prefix="provenanceguard-preview-") as place:
        folder = Path(place)
        write_files(
            store, user, folder, replace(chosen, claims=first), at=at, filters=filters,
            reports=False, pdf=False, progress=_silent, formats=formats,
        )  # fmt: skip
        rows = _rows(chosen)
        return tuple(
            _previewed(folder / name, words, rows.get(name))
            for name, words in files_of(formats).items()
            if (folder / name).exists()
        )


def _previewed(file: Path, words: str, rows: int | None) -> PreviewedFile:
    head, cut = "", False
    if file.suffix != ".parquet" and file.name != MANIFEST:
        with file.open(encoding="utf-8", newline="") as lines:
            head = lines.read(HEAD_CHARACTERS + 1)
        cut = len(head) > HEAD_CHARACTERS
    return PreviewedFile(
        name=file.name, words=words, rows=rows, head=head[:HEAD_CHARACTERS], cut=cut
    )


def _rows(chosen: Selection) -> Mapping[str, int]:
    """The rows of the files whose number is known without writing them."""
    claims = len(chosen.claims)
    votes = sum(len(claim.annotations) for claim in chosen.claims)
    traces = len({claim.content_hash for claim in chosen.claims})
    return {
        PACKET: claims,
        "claims.csv": claims,
        "claims.parquet": claims,
        "votes.csv": votes,
        "votes.parquet": votes,
        TRACES: traces,
    }


def _silent(done: int, total: int | None, what: str) -> None:
    """Nobody watches."""
