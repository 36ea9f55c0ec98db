"""Packets on a real database: exported, checked, signed, read back, and read back again."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from builders import a_source, a_trace
from databases import a_store, in_one_file, workspace_of
from reviewing import SUPPORTED, UNSUPPORTED, Clock, Office, an_office
from typer.testing import CliRunner
from verdicts import Said, a_verification

from cli import app
from core.config import Config
from core.errors import Conflict, InputError, NotAllowed, NotFound
from core.evaluation.packets import read_packet
from core.records import VerdictLabel
from core.review.exchange import PacketSignature
from core.review.records import Cause, ReviewStatus, Role, Split
from core.review.signing import new_seed, sign, wrong_with
from core.workflows.packet_export import (
    ANNOTATION_COLUMNS,
    CLAIM_COLUMNS,
    FORMULA_STARTS,
    ExportFilters,
    ExportReport,
    PacketFormat,
    export_packet,
    preview_packet,
    select_claims,
)
from core.workflows.packet_folder import (
    check_packet,
    read_manifest,
    write_manifest,
    write_signatures,
)
from core.workflows.packet_import import PacketImport, import_packet
from storage.audit import event_hash
from storage.keys import seed_of
from storage.packets import Packets
from storage.records import AuditEvent
from storage.store import SqlStore
from storage.triage import MarkKind

HOSTILE = '<img src=x onerror="alert(1)"> ![x](http://192.0.2.1/a.png) =1+1'
ALL = ExportFilters(statuses=frozenset(ReviewStatus))


def an_office_with_annotations(store: SqlStore, **more: object) -> Office:
    """Two traces of four claims, two annotations each: agreed, decided by a third, and still open."""
    office = an_office(store, traces=2, reads_per_claim=2, **more)
    for number in range(8):
        office.read("Ada", SUPPORTED, rationale="the chart says so", confidence=4)
        office.read("Ben", UNSUPPORTED if number in (1, 2, 5) else SUPPORTED)
    for _ in range(2):
        office.adjudicate(
            "Dora",
            UNSUPPORTED,
            cause=Cause.GUIDELINE_GAP,
            guideline_needs_fix=True,
            rule="3",
            rationale="rule 3 says nothing about rounding",
        )
    return office


def packets_of(office: Office) -> Packets:
    return office.workspace.packets()


def exported(office: Office, out: Path, **more: object) -> ExportReport:
    return export_packet(
        packets_of(office),
        office.people["Lea"],
        out,
        at=office.clock(),
        **more,  # type: ignore[arg-type]
    )


def taken(office: Office, folder: Path, *, by: str = "Lea", unsigned: bool = True) -> PacketImport:
    """The packet, imported into the office, signed or not."""
    return import_packet(
        office.workspace.packet_intake(), folder, office.people[by],
        max_record_bytes=Config().max_record_bytes, unsigned=unsigned,
    )  # fmt: skip


def imported(store: SqlStore, folder: Path, *, unsigned: bool = True) -> PacketImport:
    """The packet, imported into a database where nobody has been yet."""
    workspace = workspace_of(store)
    return import_packet(
        workspace.packet_intake(), folder, workspace.people.local(),
        max_record_bytes=Config().max_record_bytes, unsigned=unsigned,
    )  # fmt: skip


def lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(autouse=True)
def keys_of_its_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A fixed clock gives several databases the same first event, and anchors name a trail by it."""
    monkeypatch.setenv("PROVENANCEGUARD_KEYS", str(tmp_path / "keys"))


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Office:
    """The office of annotations, built once with the keys beside it; every test has a copy."""
    folder = tmp_path_factory.mktemp("built")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("PROVENANCEGUARD_KEYS", str(folder / "keys"))
        office = an_office_with_annotations(a_store(folder / "a.db", actor="test"))
        in_one_file(office.store)
    return office


@pytest.fixture
def office(built: Office, tmp_path: Path, keys_of_its_own: None) -> Office:
    folder = Path(built.store.name).parent
    shutil.copytree(folder / "keys", tmp_path / "keys")
    shutil.copy(folder / "a.db", tmp_path / "a.db")
    clock = Clock(at=built.clock())
    store = replace(a_store(tmp_path / "a.db", actor="test"), now=clock)
    return replace(built, workspace=workspace_of(store), clock=clock)


def test_both_engines_export_sign_and_take_a_packet_back_without_a_change(
    store: SqlStore, tmp_path: Path
) -> None:
    office = an_office_with_annotations(store)
    report = exported(office, tmp_path / "packet", filters=ALL)
    office.workspace.packet_signatures.lock(
        (tmp_path / "packet" / "manifest.json").read_text(), "review", by=office.people["Lea"]
    )

    again = taken(office, tmp_path / "packet")

    assert not again.changed
    assert [
        one.signer for one in office.workspace.packet_signatures.signatures(report.manifest_sha256)
    ] == ["Lea"]
    assert office.workspace.trail.check_links().problems == ()
    assert office.store.verify_chain().intact


def test_a_packet_is_read_back_by_evaluation_claim_by_claim(office: Office, tmp_path: Path) -> None:
    report = exported(office, tmp_path / "packet", filters=ALL)

    packet = read_packet(tmp_path / "packet" / "packet.jsonl")
    assert packet.problems == ()
    assert len(packet.rows) == report.claims == 8
    by_status = {status.value: n for status, n in report.by_status.items() if n}
    assert by_status == {"unanimous": 5, "adjudicated": 2, "unresolved": 1}
    for row in packet.rows:
        said = row.extra["adjudication"]
        final = said["final"]
        assert (row.label is None) == (said["status"] == "unresolved") == (final is None)
        if final:
            assert row.label.value == final["support"]
            assert row.relation.value == final["relation"]
            assert list(row.gold_source_ids) == [s for s in [final["source_id"]] if s]
        assert len(said["votes"]) == 2
        assert [source.source_id for source in row.sources] == ["chart", "literature"]


def test_an_adjudicated_line_has_the_fields_of_the_published_format_and_no_others(
    office: Office, tmp_path: Path
) -> None:
    exported(office, tmp_path / "packet", filters=ALL)

    for row in lines(tmp_path / "packet" / "packet.jsonl"):
        said = row["adjudication"]
        assert set(said) == {
            "status", "final", "votes", "adjudication", "inclusion_probability",
            "guideline_version", "verifier_versions",
        }  # fmt: skip
        for annotation, kept in zip(said["votes"], row["review_record"]["votes"], strict=True):
            assert annotation.pop("first", None) == kept["first"]  # what was said blind, beside it
            assert set(annotation) == {
                "reviewer", "at", "support", "source_id", "conflation", "confidence", "rationale",
                "saw_model_output", "changed_after_reveal", "seconds",
            }  # fmt: skip
        if said["final"]:
            assert set(said["final"]) == {"support", "relation", "source_id", "conflation"}
        if said["adjudication"]:
            assert set(said["adjudication"]) == {"reviewer", "at", "cause", "rationale"}
        assert said["verifier_versions"]["pair_reader"] == "reader"


def test_what_a_filter_leaves_out_is_counted_and_nothing_else_is_missing(
    office: Office, tmp_path: Path
) -> None:
    report = exported(office, tmp_path / "packet")

    manifest = json.loads((tmp_path / "packet" / "manifest.json").read_text())
    assert report.claims + sum(report.left_out.values()) == 8
    assert report.left_out == {"status “waits for a decision” was not asked for": 1}
    assert manifest["left_out"] == dict(report.left_out)
    assert "1: status “waits for a decision” was not asked for" in (
        tmp_path / "packet" / "README.md"
    ).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (ExportFilters(statuses=frozenset({ReviewStatus.ADJUDICATED})), 2),
        (ExportFilters(labels=frozenset({VerdictLabel.SUPPORTED})), 5),
        (ExportFilters(labels=frozenset({VerdictLabel.UNSUPPORTED})), 2),
        (ExportFilters(until=datetime(2026, 3, 3, tzinfo=UTC)), 7),
    ],
)
def test_each_filter_keeps_what_it_names(
    office: Office, tmp_path: Path, filters: ExportFilters, expected: int
) -> None:
    assert exported(office, tmp_path / "packet", filters=filters).claims == expected


def test_a_filter_that_nothing_passes_writes_nothing_and_says_what_was_left_out(
    office: Office, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match="not of the slice: 7"):
        exported(office, tmp_path / "packet", filters=ExportFilters(slice="none such"))

    assert [path.name for path in tmp_path.iterdir() if "packet" in path.name] == []


def test_importing_an_export_again_changes_nothing(office: Office, tmp_path: Path) -> None:
    exported(office, tmp_path / "packet", filters=ALL)
    before = office.store.audit_events()

    for _ in range(2):
        again = taken(office, tmp_path / "packet")

        assert not again.changed
        assert (again.reviews.votes_known, again.reviews.adjudications_known) == (16, 2)
        assert again.reviews.skipped == []
        # That nobody had signed it is said once.
        told, *rest = office.store.audit_events()
        assert (told.action, tuple(rest)) == ("packet.taken_unsigned", before)


def _without_run(text: str) -> str:
    return re.sub(r'"run_key": "sha256:[0-9a-f]{64}"', "", text).replace('"imported: ', '"')


def test_another_database_holds_the_same_reviews_after_an_import_and_exports_the_same_lines(
    office: Office, tmp_path: Path
) -> None:
    exported(office, tmp_path / "packet", filters=ALL)
    other = a_store(tmp_path / "b.db", actor="test")

    first = imported(other, tmp_path / "packet")
    second = imported(other, tmp_path / "packet")

    local = workspace_of(other).people.local()
    settings = replace(workspace_of(other).projects.default().settings, reads_per_claim=2)
    workspace_of(other).projects.change(
        workspace_of(other).projects.default(), settings, by=local, reason="as where it came from"
    )
    report = export_packet(
        workspace_of(other).packets(),
        replace(local, roles=frozenset({Role.LEAD})),
        tmp_path / "back",
        at=office.clock(),
        filters=ALL,
    )
    assert first.reviews.skipped == []
    assert (first.reviews.votes, first.reviews.adjudications, first.traces_new) == (16, 2, 2)
    assert not second.changed
    assert report.claims == 8
    for name in ("packet.jsonl", "traces.jsonl", "claims.csv", "votes.csv", "annotations.jsonl"):
        # What decided there is somebody else's statement here: its run has another key, and says so.
        back, packet = ((tmp_path / one / name).read_text() for one in ("back", "packet"))
        assert _without_run(back) == _without_run(packet)
    assert other.verify_chain().intact


def test_imported_people_have_no_role_and_imported_readings_are_not_asked_for_again(
    office: Office, tmp_path: Path
) -> None:
    exported(office, tmp_path / "packet", filters=ALL)
    other = a_store(tmp_path / "b.db", actor="test")

    imported(other, tmp_path / "packet")

    people = workspace_of(other).people
    assert people.by_name("Ada").roles == frozenset()
    assert workspace_of(other).reviews(people.local()).next_item() is None


def test_the_default_reviewers_of_two_machines_stay_two_people(tmp_path: Path) -> None:
    """Both are called the same: each machine makes such a profile for itself."""
    stores = {name: a_store(str(tmp_path / f"{name}.db")) for name in ("one", "two")}
    locals_ = {name: workspace_of(store).people.local() for name, store in stores.items()}
    # An office each by another kind: two of one kind are copies of one machine's.
    offices = {name: an_office(store, traces=2, audit_share=share)
               for share, (name, store) in zip((0.2, 0.3), stores.items(), strict=True)}  # fmt: skip
    assert locals_["one"].name == locals_["two"].name
    one, two = offices["one"], offices["two"]
    desk = one.workspace.reviews(locals_["one"])
    item = desk.next_item()
    assert item is not None
    nonce = desk.show(item.assignment_id)
    one.clock.advance(seconds=5)
    desk.annotate(item.assignment_id, nonce, SUPPORTED)
    exported(one, tmp_path / "packet")

    for times in range(2):
        done = taken(two, tmp_path / "packet")
        assert (done.reviews.votes, done.reviews.votes_known) == (1 - times, times)

    (claim,) = packets_of(two).reviewed()
    assert [annotation.reviewer for annotation in claim.annotations] != [locals_["two"].name]
    assert claim.annotations[0].reviewer.startswith(locals_["one"].name)
    assert two.workspace.reviews(locals_["two"]).progress().mine_done == 0
    exported(two, tmp_path / "back")
    again = taken(one, tmp_path / "back")
    assert not again.changed


def test_a_newer_reading_here_is_never_superseded_by_an_older_one_of_a_packet(
    office: Office, tmp_path: Path
) -> None:
    exported(office, tmp_path / "packet", filters=ALL)
    desk = office.desk("Ada")
    item = desk.undo()
    nonce = desk.show(item.assignment_id)
    office.clock.advance(seconds=30)
    desk.annotate(item.assignment_id, nonce, UNSUPPORTED)

    again = taken(office, tmp_path / "packet")

    assert not again.changed
    assert again.reviews.votes_known == 16  # the older reading is here too, and no longer stands
    exported(office, tmp_path / "later", filters=ALL)
    (before,) = lines(tmp_path / "later" / "superseded.jsonl")
    assert (before["reviewer"], before["support"]) == ("Ada", "supported")


def test_a_file_that_was_changed_added_or_removed_is_found_and_not_imported(
    office: Office, tmp_path: Path
) -> None:
    exported(office, tmp_path / "packet")
    folder = tmp_path / "packet"
    assert check_packet(folder).intact
    csv_text = (folder / "claims.csv").read_bytes()

    (folder / "claims.csv").write_bytes(csv_text.replace(b"supported", b"Supported", 1))
    (folder / "extra.txt").write_text("more")
    (folder / "votes.csv").unlink()

    problems = check_packet(folder).problems
    assert problems == (
        "claims.csv: was changed after the export",
        "extra.txt: is not listed in the manifest",
        "votes.csv: is listed in the manifest, and is gone",
    )
    with pytest.raises(InputError, match="not as it was exported"):
        imported(a_store(tmp_path / "b.db"), folder)


def test_a_signature_covers_the_manifest_and_taking_it_back_is_an_event(
    office: Office, tmp_path: Path
) -> None:
    report = exported(office, tmp_path / "packet")
    folder, lea = tmp_path / "packet", office.people["Lea"]
    manifest = (folder / "manifest.json").read_text(encoding="utf-8")

    signed = office.workspace.packet_signatures.lock(manifest, "approval", by=lea)
    write_signatures(folder, office.workspace.packet_signatures.signatures(report.manifest_sha256))
    with pytest.raises(Conflict):
        office.workspace.packet_signatures.lock(manifest, "approval", by=lea)
    check = check_packet(folder)
    office.workspace.packet_signatures.unlock(
        report.manifest_sha256, "an annotation was wrong", by=lea
    )

    assert signed.manifest_sha256 == report.manifest_sha256
    assert check.intact
    assert [(one.signer, one.meaning) for one in check.signatures] == [("Lea", "approval")]
    after, back = office.workspace.packet_signatures.signatures(report.manifest_sha256)
    assert back.meaning == "taken back" and wrong_with(back) is None
    assert after.taken_back
    assert not office.workspace.packet_signatures.signed()[0].locked
    actions = [event.action for event in office.store.audit_events(limit=3)]
    assert actions == ["packet.unlocked", "packet.signed", "packet.exported"]
    assert office.store.verify_chain().intact
    with pytest.raises(NotFound):
        office.workspace.packet_signatures.unlock(report.manifest_sha256, "again", by=lea)


def _manifest_anew(folder: Path) -> str:
    about = {**read_manifest(folder)}
    for known in ("format", "version", "files", "signed_as"):
        about.pop(known, None)
    return write_manifest(folder, about)


def _signatures(folder: Path, *changed: dict) -> None:
    (folder / "signatures.json").write_text(json.dumps(list(changed)))


def _signed_by_a_stranger(folder: Path, office: Office) -> None:
    """Under the name of the one who signed before."""
    stated = PacketSignature(
        manifest_sha256=_manifest_anew(folder), signer="Lea", at=office.clock(), meaning="review"
    )
    write_signatures(folder, (sign(stated, new_seed()),))


def _written_anew_unsigned(folder: Path, _: Office) -> None:
    _manifest_anew(folder)
    (folder / "signatures.json").unlink()


def _written_anew(folder: Path, _: Office) -> None:
    _manifest_anew(folder)


def _a_name_alone(folder: Path, _: Office) -> None:
    digest = _manifest_anew(folder)
    (one,) = json.loads((folder / "signatures.json").read_text())
    bare = {"public_key": None, "signature": None, "manifest_sha256": digest}
    _signatures(folder, one | bare)


def _another_meaning(folder: Path, _: Office) -> None:
    (one,) = json.loads((folder / "signatures.json").read_text())
    _signatures(folder, one | {"meaning": "approval"})


def _a_file_more(folder: Path, _: Office) -> None:
    (folder / "votes-2.csv").write_text("claim_id\n")


def _an_accepted_key_under_another_name(folder: Path, office: Office) -> None:
    stated = PacketSignature(
        manifest_sha256=_manifest_anew(folder), signer="Lea", at=office.clock(), meaning="review"
    )
    write_signatures(folder, (sign(stated, seed_of("Dora")),))


def _taken_back(folder: Path, office: Office) -> None:
    (one,) = json.loads((folder / "signatures.json").read_text())
    work = office.workspace.packet_signatures
    office.clock.advance(minutes=1)
    work.unlock(one["manifest_sha256"], "a label was wrong", by=office.people["Lea"])
    write_signatures(folder, work.signatures(one["manifest_sha256"]))


def _taken_back_and_that_left_out(folder: Path, office: Office) -> None:
    before = (folder / "signatures.json").read_bytes()
    _taken_back(folder, office)
    (folder / "signatures.json").write_bytes(before)


@pytest.mark.parametrize(
    ("attack", "flipped", "why", "may_be_confirmed"),
    [
        (_written_anew, True, "signed another manifest", False),
        (_written_anew_unsigned, True, "not signed by anybody trusted here", True),
        (_signed_by_a_stranger, True, "nobody has accepted", True),
        (_an_accepted_key_under_another_name, True, "under another name", True),
        (_a_name_alone, True, "a name without a key", False),
        (_another_meaning, False, "forged", False),
        (_a_file_more, False, "is not listed", False),
        (_taken_back, False, "taken back since", True),
        (_taken_back_and_that_left_out, False, "taken back since", True),
    ],
)
def test_a_packet_that_nobody_trusted_signed_as_it_is_is_refused_or_confirmed(
    office: Office,
    tmp_path: Path,
    attack: Callable[[Path, Office], None],
    flipped: bool,
    why: str,
    may_be_confirmed: bool,
) -> None:
    folder = tmp_path / "packet"
    digest = exported(office, folder, filters=ALL).manifest_sha256
    office.workspace.packet_signatures.lock(
        (folder / "manifest.json").read_text(), "review", by=office.people["Lea"]
    )
    write_signatures(folder, office.workspace.packet_signatures.signatures(digest))
    assert taken(office, folder, unsigned=False).reviews.votes_known == 16
    if flipped:
        packet = folder / "packet.jsonl"
        packet.write_text(packet.read_text().replace('"supported"', '"unsupported"'))

    attack(folder, office)

    before = office.store.audit_events()
    with pytest.raises(InputError, match=why):
        taken(office, folder, unsigned=False)
    assert office.store.audit_events() == before
    found = CliRunner().invoke(
        app, ["audit", "verify", "--packet", str(folder), "--db", office.store.name]
    )
    assert "intact, and signed" not in found.output
    assert found.exit_code or "UNSIGNED" in found.output
    if not may_be_confirmed:
        with pytest.raises(InputError, match=why):
            taken(office, folder)
        return
    taken(office, folder)
    new = office.store.audit_events(newest_first=False)[len(before) :]
    assert (new[0].action, new[0].actor) == ("packet.taken_unsigned", "Lea")
    assert why in json.loads(new[0].detail)["reason"]


@pytest.mark.parametrize("name", ["Ada", "Dora", "Otto"])
def test_only_a_lead_signs_or_imports_and_only_leads_and_auditors_export(
    office: Office, tmp_path: Path, name: str
) -> None:
    exported(office, tmp_path / "packet")
    who, packets = office.people[name], packets_of(office)

    with pytest.raises(NotAllowed):
        office.workspace.packet_signatures.lock("{}", "review", by=who)
    with pytest.raises(NotAllowed):
        taken(office, tmp_path / "packet", by=name)
    if name == "Otto":
        export_packet(packets, who, tmp_path / "other", at=office.clock())
    else:
        with pytest.raises(NotAllowed):
            export_packet(packets, who, tmp_path / "other", at=office.clock())
        with pytest.raises(NotAllowed):
            office.workspace.trail.export(filters=None, user=who)  # type: ignore[arg-type]


def test_a_lead_who_still_has_to_judge_a_claim_does_not_get_it_with_its_votes(
    tmp_path: Path,
) -> None:
    office = an_office_with_annotations(a_store(tmp_path / "a.db", actor="test"))
    lead = office.workspace.people.grant(
        office.people["Lea"], Role.ADJUDICATOR, by=office.people["Lea"]
    )

    report = export_packet(
        packets_of(office), lead, tmp_path / "packet", at=office.clock(), filters=ALL
    )

    assert report.left_out == {"you still have to judge it yourself": 1}


def test_tables_hold_each_claim_and_reading_once_with_every_column_explained(
    office: Office, tmp_path: Path
) -> None:
    exported(office, tmp_path / "packet", filters=ALL)
    folder = tmp_path / "packet"

    readme = (folder / "README.md").read_text(encoding="utf-8")
    for name, columns, count in (("claims", CLAIM_COLUMNS, 8), ("votes", ANNOTATION_COLUMNS, 16)):
        text = (folder / f"{name}.csv").read_text(encoding="utf-8-sig")
        rows = list(csv.DictReader(io.StringIO(text)))
        table = pq.read_table(folder / f"{name}.parquet").to_pylist()
        assert len(rows) == len(table) == count
        assert list(rows[0]) == list(table[0]) == list(columns)
        assert [row["claim_id"] for row in rows] == [row["claim_id"] for row in table]
        assert all(f"| `{column}` | " in readme for column in columns)
    for file in folder.iterdir():
        assert file.name == "README.md" or f"`{file.name}" in readme, file.name


def test_hostile_text_is_no_formula_in_csv_no_markup_in_html_and_no_path(tmp_path: Path) -> None:
    answer = f"{HOSTILE} and that is so."
    trace = a_trace(answer, a_source(answer), trace_id=f"=../../{HOSTILE}")
    said = Said(said=answer, verdict=VerdictLabel.SUPPORTED, source="chart", premise=answer)
    office = an_office(
        a_store(tmp_path / "a.db", actor="test"),
        verifications=[a_verification(trace, {"chart": "patient_record"}, [said])],
    )
    office.read("Ada", SUPPORTED, rationale='=HYPERLINK("http://192.0.2.1")' + HOSTILE)

    exported(office, tmp_path / "packet")

    folder = tmp_path / "packet"
    for name in ("claims", "votes"):
        text = (folder / f"{name}.csv").read_text(encoding="utf-8-sig")
        for row in csv.reader(io.StringIO(text)):
            assert not any(cell.startswith(FORMULA_STARTS) for cell in row)
    (annotation,) = pq.read_table(folder / "votes.parquet").to_pylist()
    assert annotation["rationale"].startswith("=HYPERLINK")
    assert sorted(p.name for p in (folder / "reports").iterdir()) == [
        "index.html",
        "trace-000001.html",
    ]
    for page in (folder / "reports").iterdir():
        html = page.read_text(encoding="utf-8")
        assert "<img" not in html
        assert "&lt;img" in html
        assert "default-src 'none'" in html


def test_annotations_have_the_names_of_openinference_and_cover_every_reading(
    office: Office, tmp_path: Path
) -> None:
    semconv = pytest.importorskip(
        "openinference.semconv.trace", reason="the conventions' package is not installed"
    )
    exported(office, tmp_path / "packet", filters=ALL)

    known = {
        getattr(semconv.AnnotationAttributes, name)
        for name in dir(semconv.AnnotationAttributes)
        if name.startswith("ANNOTATION_")
    }
    identifiers = set()
    for row in lines(tmp_path / "packet" / "annotations.jsonl"):
        for key, value in row["attributes"].items():
            assert key.startswith("trace.annotations.")
            number, _, name = key.removeprefix("trace.annotations.").partition(".")
            assert number.isdigit()
            assert name in known
            if name == "annotation.identifier":
                identifiers.add(value)
    assert len([i for i in identifiers if i.endswith("/Ada")]) == 8
    assert len([i for i in identifiers if i.endswith("/Dora")]) == 2
    assert len([i for i in identifiers if i.endswith("/final")]) == 7


def test_held_out_traces_give_no_preference_pair_and_the_manifest_counts_them(
    office: Office, tmp_path: Path
) -> None:
    office.workspace.splits.say("review-0001", Split.HELD_OUT, by="Lea")
    office.workspace.splits.say("review-0002", Split.TRAIN, by="Lea")

    report = exported(office, tmp_path / "packet", filters=ALL)

    pairs = lines(tmp_path / "packet" / "preferences.jsonl")
    manifest = json.loads((tmp_path / "packet" / "manifest.json").read_text())
    counted = manifest["preference_pairs"]
    assert {pair["trace_id"] for pair in pairs} == {"review-0002"}
    assert len(pairs) == report.preference_pairs == counted["written"] > 0
    assert counted["left_out_as_held_out"] > 0
    assert all(pair["chosen"] != pair["rejected"] for pair in pairs)
    rows = read_packet(tmp_path / "packet" / "packet.jsonl").rows
    assert {row.held_out for row in rows if row.trace_id == "review-0001"} == {True}


def test_the_trail_of_a_packet_holds_every_event_of_its_claims_and_each_proves_itself(
    office: Office, tmp_path: Path
) -> None:
    exported(office, tmp_path / "packet", filters=ALL)

    found = lines(tmp_path / "packet" / "audit_trail.jsonl")
    actions = [event["action"] for event in found]
    assert actions.count("claim.adjudicated") == 2
    assert {"traces.stored", "verdicts.stored"} <= set(actions)
    for row in found:
        event = AuditEvent(**{**row, "at": datetime.fromisoformat(row["at"])})
        assert event_hash(event) == event.hash


def test_a_folder_that_holds_something_is_left_alone(office: Office, tmp_path: Path) -> None:
    (tmp_path / "packet").mkdir()
    (tmp_path / "packet" / "mine.txt").write_text("mine")

    with pytest.raises(InputError, match="something already"):
        exported(office, tmp_path / "packet")

    assert [path.name for path in (tmp_path / "packet").iterdir()] == ["mine.txt"]


# ---------------------------------------------------------------- chosen traces, tags and formats


def test_a_packet_holds_the_traces_and_tags_that_were_asked_for(
    office: Office, tmp_path: Path
) -> None:
    triage, lea = office.workspace.triage, office.people["Lea"]
    triage.mark(["review-0001", "review-0002"], MarkKind.TAG, "ward 7", by=lea)
    triage.mark(["review-0001"], MarkKind.UNTAG, "ward 7", by=lea)

    tagged = exported(office, tmp_path / "tagged", filters=ExportFilters(tag="ward 7"))
    one = exported(
        office, tmp_path / "one", filters=ExportFilters(traces=frozenset({"review-0001"}))
    )

    assert {row["trace_id"] for row in lines(tmp_path / "tagged" / "packet.jsonl")} == {
        "review-0002"
    }
    assert {row["trace_id"] for row in lines(tmp_path / "one" / "packet.jsonl")} == {"review-0001"}
    assert tagged.claims + one.claims == 7
    assert "without the tag" in tagged.left_out
    told = json.loads((tmp_path / "tagged" / "manifest.json").read_text())
    assert told["filters"]["tag"] == "ward 7"


def test_a_packet_without_other_formats_is_still_read_back(office: Office, tmp_path: Path) -> None:
    exported(office, tmp_path / "packet", filters=ALL, formats=frozenset({PacketFormat.CSV}))

    names = {path.name for path in (tmp_path / "packet").iterdir()}
    assert {"claims.csv", "packet.jsonl", "audit_trail.jsonl"} <= names
    assert not names & {"claims.parquet", "annotations.jsonl", "preferences.jsonl"}
    assert "annotations.jsonl" not in (tmp_path / "packet" / "README.md").read_text()
    assert check_packet(tmp_path / "packet").intact
    assert imported(a_store(tmp_path / "b.db"), tmp_path / "packet").claims == 8


def test_a_preview_begins_like_the_packet_and_is_told_to_nobody(
    office: Office, tmp_path: Path
) -> None:
    packets, lea = packets_of(office), office.people["Lea"]
    before = packets.events()
    formats = frozenset({PacketFormat.CSV, PacketFormat.PARQUET})

    shown = preview_packet(
        packets, lea, select_claims(packets, lea, ALL), at=office.clock(), filters=ALL,
        formats=formats,
    )  # fmt: skip

    assert packets.events() == before
    exported(office, tmp_path / "packet", filters=ALL, formats=formats)
    by_name = {each.name: each for each in shown}
    written = (tmp_path / "packet" / "packet.jsonl").read_text(encoding="utf-8")
    assert written.startswith(by_name["packet.jsonl"].head)
    assert (by_name["packet.jsonl"].rows, by_name["votes.csv"].rows) == (8, 16)
    assert by_name["claims.parquet"].head == ""
    assert "preferences.jsonl" not in by_name
