"""import_packet: an exported packet into a database; the second time, nothing changes."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Protocol

from core.capture.files import read_records
from core.codec import trace_from_document, verification_from_document
from core.errors import BadRecord, InputError
from core.ports import Progress, PutCount
from core.records import JsonObject, Trace, Verification, Versions
from core.review.exchange import PacketSignature, ReviewsPut
from core.review.packet_reader import PacketReview, is_reviewed, review_from_json
from core.review.records import Person, Split
from core.workflows.packet_export import GUIDELINE, PACKET, TRACES, VERDICTS
from core.workflows.packet_folder import check_packet, read_manifest
from core.workflows.verify import run_key

AT_ONCE = 200
IMPORTED = "imported: "  # before what somebody else's verdict says that it was made by


@dataclass(frozen=True, slots=True, kw_only=True)
class PacketImport:
    """What an import of a packet did; ``notes`` are what a person should know, nothing was lost."""

    claims: int
    traces_new: int
    reviews: ReviewsPut
    notes: tuple[str, ...]

    @property
    def changed(self) -> bool:
        """Whether the database holds anything that it did not hold before."""
        put = self.reviews
        return bool(self.traces_new or put.votes or put.adjudications or put.people or put.splits)


class PacketSink(Protocol):
    """What an import asks of a database."""

    def put_traces(self, traces_in: Sequence[Trace]) -> PutCount:
        """Keep traces by content hash."""

    def put_verdicts(self, run_key: str, verdicts_in: Sequence[Verification]) -> None:
        """Keep verdicts, each on the trace version that its content hash names."""

    def guideline_texts(self) -> Mapping[int, str]:
        """The guideline's versions here."""

    def allow_import(self, user: Person) -> None:
        """Raise NotAllowed unless the person may import reviews."""

    def put_reviews(
        self,
        reviews: Sequence[PacketReview],
        *,
        by: Person,
        manifest_sha256: str,
        machine_profiles: Mapping[str, str],
    ) -> ReviewsPut:
        """Keep the annotations and tie-breaks that are not here yet."""

    def own_verdicts(self, run_key: str, verdicts: Sequence[Verification]) -> Collection[str]:
        """The content hashes of those that stand here already, word for word."""

    def distrust(self, signatures: Sequence[PacketSignature]) -> str | None:
        """Why none of these is the standing signature of somebody whom this site trusts; None if one is."""

    def take_unsigned(self, user: Person, manifest_sha256: str, why: str) -> None:
        """Keep in the trail that the person took a packet that nobody trusted has signed."""

    def put_splits(self, splits: Mapping[str, Split], *, by: Person) -> ReviewsPut:
        """Keep the side of the split that traces stand on, where nobody has said another."""


def import_packet(
    sink: PacketSink,
    folder: Path,
    user: Person,
    *,
    max_record_bytes: int,
    unsigned: bool = False,
    progress: Progress | None = None,
) -> PacketImport:
    """Read an exported packet into a database: its traces, their verdicts, and every person's word.

    Whoever has a packet can write its files and its manifest anew: it must be signed by somebody whom
    this site trusts, unless the user takes it ``unsigned``, which the trail then says. Raises
    NotAllowed, and InputError when that is not so or a file is not the one that was exported: then
    nothing is read at all.
    """
    sink.allow_import(user)
    check = check_packet(folder)
    if not check.intact:
        raise InputError(
            f"the packet is not as it was exported: {'; '.join(check.problems[:5])}",
            file=str(folder),
        )
    doubt = sink.distrust(check.signatures)
    if doubt is not None and not unsigned:
        raise InputError(
            f"{doubt}: anybody could have written it. Accept the signer's key (audit trust), or take "
            "the packet unsigned, which is written in the trail",
            file=str(folder),
        )
    if doubt is not None:
        sink.take_unsigned(user, check.manifest_sha256, doubt)
    profiles = _profiles(read_manifest(folder))
    traces_new = _traces(sink, folder / TRACES, max_record_bytes)
    _verdicts(sink, folder / VERDICTS, max_record_bytes)
    put, claims = ReviewsPut(), 0
    splits: dict[str, Split] = {}
    for batch in _batches(folder / PACKET, max_record_bytes):
        reviews = []
        for line, record in batch:
            claims += 1
            try:
                if not is_reviewed(record):
                    raise BadRecord("nobody has judged this claim", path="adjudication")
                reviews.append(review_from_json(record))
                splits |= _split(record)
            except BadRecord as error:
                put.skipped.append(
                    BadRecord(error.message, file=PACKET, line=line, path=error.path).located()
                )
        put.add(
            sink.put_reviews(
                reviews,
                by=user,
                manifest_sha256=check.manifest_sha256,
                machine_profiles=profiles,
            )
        )
        if progress is not None:
            progress(claims, None, "claims")
    put.add(sink.put_splits(splits, by=user))
    return PacketImport(
        claims=claims,
        traces_new=traces_new,
        reviews=put,
        notes=tuple(_notes(sink, folder / GUIDELINE, max_record_bytes)),
    )


def _profiles(manifest: JsonObject) -> Mapping[str, str]:
    """Name → identity of the machine profiles among a packet's people; none in older packets."""
    found = manifest.get("machine_profiles")
    if not isinstance(found, Mapping):
        return {}
    return {name: each for name, each in found.items() if isinstance(each, str)}


def _records(path: Path, max_record_bytes: int) -> Iterator[tuple[int, JsonObject]]:
    """(line, object) of a file that the manifest has vouched for; raises InputError."""
    if not path.exists() or not path.stat().st_size:
        return
    for found in read_records(path, max_record_bytes):
        if isinstance(found, InputError):
            raise found
        if not isinstance(found.value, Mapping):
            raise BadRecord("expected an object", file=path.name, line=found.line)
        yield found.line, found.value


def _batches(path: Path, max_record_bytes: int) -> Iterator[list[tuple[int, JsonObject]]]:
    found = _records(path, max_record_bytes)
    while batch := list(islice(found, AT_ONCE)):
        yield batch


def _traces(sink: PacketSink, path: Path, max_record_bytes: int) -> int:
    new = 0
    for batch in _batches(path, max_record_bytes):
        count = sink.put_traces([trace_from_document(document) for _, document in batch])
        new += count.new + count.changed
    return new


def _verdicts(sink: PacketSink, path: Path, max_record_bytes: int) -> None:
    for batch in _batches(path, max_record_bytes):
        by_run: dict[str, list[Verification]] = {}
        for line, record in batch:
            try:
                verification = verification_from_document(record)
            except BadRecord as error:
                raise BadRecord(error.message, file=VERDICTS, line=line, path=error.path) from None
            if verification.content_hash is None:
                raise BadRecord(
                    "expected the trace version of a verdict",
                    file=VERDICTS,
                    line=line,
                    path="content_hash",
                )
            by_run.setdefault(run_key(verification.versions), []).append(verification)
        for key, verdicts in by_run.items():
            own = sink.own_verdicts(key, verdicts)
            foreign = [
                replace(one, versions=somebody_elses(one.versions))
                for one in verdicts
                if one.content_hash not in own
            ]
            if foreign:
                sink.put_verdicts(run_key(foreign[0].versions), foreign)


def somebody_elses(versions: Versions) -> Versions:
    """The versions of a verdict that somebody else says was made by these: no run of one's own.

    What came in stands beside what is verified here and never for it: its run has another key.
    """
    if versions.pipeline.startswith(IMPORTED):
        return versions
    return replace(versions, pipeline=f"{IMPORTED}{versions.pipeline}")


def _split(record: JsonObject) -> dict[str, Split]:
    split, trace_id = record.get("split"), record.get("trace_id")
    known = {each.value: each for each in Split}
    if isinstance(trace_id, str) and isinstance(split, str) and split in known:
        return {trace_id: known[split]}
    return {}


def _notes(sink: PacketSink, path: Path, max_record_bytes: int) -> Iterator[str]:
    here = sink.guideline_texts()
    for _, record in _records(path, max_record_bytes):
        version, text = record.get("version"), record.get("text")
        if isinstance(version, int) and version in here and here[version] != text:
            yield (
                f"guideline {version} has another text here than where the packet was made: its "
                "annotations keep that number"
            )
