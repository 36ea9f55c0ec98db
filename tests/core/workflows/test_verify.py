"""Long verifications: nothing judged twice, nothing lost, the same bytes however often it stopped."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from builders import a_source, a_trace
from hypothesis import given
from hypothesis import strategies as st

from core.codec import verdict_document
from core.config import Config
from core.errors import BadRecord, InputError
from core.records import (
    AnswerDecision,
    Claim,
    ClaimVerdict,
    Decision,
    Span,
    Trace,
    Unjudged,
    VerdictLabel,
    Verification,
    Versions,
)
from core.workflows.verdict_file import verdict_file
from core.workflows.verify import Judge, VerifyReport, run_key, verify_file, verify_pending
from storage.records import TraceFilters
from storage.store import SqlStore, open_store

VERSIONS = Versions(
    pipeline="1",
    config_sha256="c" * 64,
    embedder="embedder",
    pair_reader="reader",
    precision="float32",
    calibrator="forest",
)


class Stopped(Exception):
    """What a test raises where a run is killed."""


class Judging:
    """Stands in for the pipeline: blocks answers that say "wrong"; can be killed at a trace."""

    def __init__(self, versions: Versions = VERSIONS, killed_at: str | None = None) -> None:
        self.judged: list[str] = []
        self.versions = versions
        self.killed_at = killed_at

    def __call__(self, models: object, config: Config) -> Judge:
        return Judge(versions=self.versions, verify=self.verify)

    def verify(self, traces: Sequence[Trace]) -> Iterator[Verification]:
        for trace in traces:
            if trace.trace_id == self.killed_at:
                raise Stopped
            self.judged.append(trace.trace_id)
            yield verification(trace, self.versions)


def verification(trace: Trace, versions: Versions) -> Verification:
    answer = trace.answer or ""
    claim = Claim(claim_id="c01", text=answer, span=Span(start=0, end=len(answer)), said=answer)
    wrong = "wrong" in answer
    verdict = ClaimVerdict(
        claim=claim,
        outcome=Unjudged(stage="nli", reason="stands in"),
        verdict=VerdictLabel.CONTRADICTED if wrong else VerdictLabel.SUPPORTED,
        decision=Decision.BLOCK if wrong else Decision.ALLOW,
        reasons=("stands in",),
    )
    return Verification(
        trace=trace,
        families={source.source_id: "other" for source in trace.sources},
        claims=(verdict,),
        answer=AnswerDecision(decision=verdict.decision, reasons=("stands in",)),
        versions=versions,
        latency_seconds={"total": (0.25,)},
    )


def some_traces(count: int) -> list[Trace]:
    return [
        a_trace(
            f"Answer {n} is {'wrong' if n % 3 == 0 else 'right'} – 5 µg.",
            a_source(f"Evidence {n}."),
            trace_id=f"t{n}",
        )
        for n in range(count)
    ]


def to_file(
    captured: Iterable[Trace | InputError],
    out: Path | None,
    judging: Judging | None = None,
    batch: int = 4,
) -> VerifyReport:
    return verify_file(
        captured,
        out,
        None,  # type: ignore[arg-type]  # the stand-in needs no models
        Config(),
        batch=batch,
        judged_by=judging or Judging(),
    )


def ids(out: Path) -> list[str]:
    data = out.read_bytes()
    text = gzip.decompress(data) if out.suffix == ".gz" else data
    return [json.loads(line)["trace_id"] for line in text.splitlines()]


# ---------------------------------------------------------------- to a file


@pytest.mark.parametrize("name", ["v.jsonl", "v.jsonl.gz"])
def test_verdicts_come_out_one_a_line_in_the_order_of_the_input(tmp_path: Path, name: str) -> None:
    report = to_file(some_traces(10), tmp_path / name)

    assert ids(tmp_path / name) == [f"t{n}" for n in range(10)]
    assert (report.verified, report.kept) == (10, 0)
    assert report.by_decision == {Decision.BLOCK: 4, Decision.ALLOW: 6}
    assert report.by_verdict[VerdictLabel.CONTRADICTED] == 4


@pytest.mark.parametrize("name", ["v.jsonl", "v.jsonl.gz"])
@given(data=st.data())
def test_a_file_torn_at_any_byte_is_continued_to_the_same_bytes(
    tmp_path: Path, name: str, data: st.DataObject
) -> None:
    traces = some_traces(7)
    whole = tmp_path / f"whole-{name}"
    whole.unlink(missing_ok=True)
    to_file(traces, whole)
    torn = tmp_path / name
    cut = data.draw(st.integers(0, whole.stat().st_size), label="cut at byte")
    torn.write_bytes(whole.read_bytes()[:cut])
    judging = Judging()

    report = to_file(traces, torn, judging, batch=data.draw(st.integers(1, 8), label="batch"))

    assert torn.read_bytes() == whole.read_bytes()
    assert len(judging.judged) == report.verified == 7 - report.kept


def test_a_killed_run_judges_nothing_twice(tmp_path: Path) -> None:
    traces, out = some_traces(10), tmp_path / "v.jsonl"
    first, second = Judging(killed_at="t6"), Judging()
    with pytest.raises(Stopped):
        to_file(traces, out, first, batch=2)

    report = to_file(traces, out, second, batch=2)

    assert ids(out) == [f"t{n}" for n in range(10)]
    assert report.kept == 6
    assert second.judged == ["t6", "t7", "t8", "t9"]


def test_verdicts_of_other_versions_are_made_anew(tmp_path: Path) -> None:
    traces, out = some_traces(3), tmp_path / "v.jsonl"
    to_file(traces, out)
    newer = Judging(replace(VERSIONS, calibrator="another forest"))

    report = to_file(traces, out, newer)

    assert report.kept == 0
    assert newer.judged == ["t0", "t1", "t2"]
    versions = [json.loads(line)["versions"]["calibrator"] for line in out.read_text().splitlines()]
    assert versions == ["another forest"] * 3


def test_a_trace_that_changed_under_its_id_is_judged_again(tmp_path: Path) -> None:
    traces, out, judging = some_traces(3), tmp_path / "v.jsonl", Judging()
    to_file(traces, out)
    changed = [traces[0], a_trace("Another answer.", trace_id="t1"), traces[2]]

    to_file(changed, out, judging)

    assert judging.judged == ["t1", "t2"]
    assert json.loads(out.read_text().splitlines()[1])["answer"] == "Another answer."


def test_verdicts_of_traces_that_are_gone_from_the_input_are_cut_off(tmp_path: Path) -> None:
    out = tmp_path / "v.jsonl"
    to_file(some_traces(5), out)

    report = to_file(some_traces(2), out)

    assert ids(out) == ["t0", "t1"]
    assert (report.kept, report.verified) == (2, 0)


def test_shuffled_input_gives_the_same_lines(tmp_path: Path) -> None:
    traces = some_traces(9)
    to_file(traces, tmp_path / "a.jsonl", batch=3)

    to_file(traces[::-1], tmp_path / "b.jsonl", batch=5)

    lines = (tmp_path / "a.jsonl").read_text().splitlines()
    assert (tmp_path / "b.jsonl").read_text().splitlines() == lines[::-1]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("v.jsonl", b"my notes\n"),
        ("v.jsonl", b'{"question_id": "a trace, not a verdict"}\n'),
        ("v.jsonl", b"\x00\x01\x02"),
        ("v.jsonl.gz", gzip.compress(b"my notes\n", mtime=0)),
    ],
)
def test_a_file_that_holds_no_verdicts_is_not_overwritten(
    tmp_path: Path, name: str, content: bytes
) -> None:
    out = tmp_path / name
    out.write_bytes(content)

    with pytest.raises(InputError, match="not verdicts"):
        to_file(some_traces(1), out)

    assert out.read_bytes() == content


def test_bad_records_are_reported_and_the_good_ones_verified(tmp_path: Path) -> None:
    traces, told = some_traces(2), []
    bad = BadRecord("expected text, found null", file="traces.jsonl", line=2, path="answer")

    report = verify_file(
        [traces[0], bad, traces[1]],
        tmp_path / "v.jsonl",
        None,  # type: ignore[arg-type]
        Config(),
        skipped=lambda error: told.append(error.located()),
        judged_by=Judging(),
    )

    assert ids(tmp_path / "v.jsonl") == ["t0", "t1"]
    assert report.skipped == 1
    assert told == report.reasons == ["traces.jsonl:2: answer: expected text, found null"]


def test_without_an_output_file_the_traces_are_counted() -> None:
    report = to_file(some_traces(4), None)

    assert report.by_decision == {Decision.BLOCK: 2, Decision.ALLOW: 2}


# ---------------------------------------------------------------- in a database


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqlStore]:
    opened = open_store(str(tmp_path / "workbench.db"), actor="tester")
    yield opened
    opened.close()


def pending(store: SqlStore, judging: Judging, batch: int = 4) -> VerifyReport:
    return verify_pending(store, None, Config(), batch=batch, judged_by=judging)  # type: ignore[arg-type]


def test_stored_traces_are_verified_once(store: SqlStore) -> None:
    store.put_traces(some_traces(10))
    first, second = Judging(), Judging()

    report = pending(store, first)
    again = pending(store, second)

    assert first.judged == [f"t{n}" for n in range(10)]
    assert (report.verified, again.verified) == (10, 0)
    assert second.judged == []
    blocked = store.list_traces(TraceFilters(decisions=frozenset({Decision.BLOCK})))
    assert [row.trace_id for row in blocked.rows] == ["t0", "t3", "t6", "t9"]


def test_a_killed_run_keeps_whole_windows_and_goes_on_after_them(store: SqlStore) -> None:
    store.put_traces(some_traces(10))
    second = Judging()
    with pytest.raises(Stopped):
        pending(store, Judging(killed_at="t7"), batch=3)

    report = pending(store, second, batch=3)

    assert second.judged == ["t6", "t7", "t8", "t9"]
    assert report.verified == 4
    assert store.verify_chain().intact


def test_another_calibrator_verifies_everything_again_and_keeps_the_old_verdicts(
    store: SqlStore,
) -> None:
    store.put_traces(some_traces(3))
    newer = replace(VERSIONS, calibrator="another forest")
    pending(store, Judging())

    pending(store, Judging(newer))

    assert [run.versions for run in store.runs()] == [newer, VERSIONS]
    assert store.get_verdict("t1").run_key == run_key(newer)
    assert store.get_verdict("t1", run_key=run_key(VERSIONS)).verification.trace.trace_id == "t1"


def test_progress_reaches_the_number_of_waiting_traces(store: SqlStore) -> None:
    store.put_traces(some_traces(5))
    told: list[tuple[int, int | None]] = []

    verify_pending(
        store,
        None,  # type: ignore[arg-type]
        Config(),
        lambda done, total, what: told.append((done, total)),
        2,
        judged_by=Judging(),
    )

    assert told == [(0, 5), (2, 5), (4, 5), (5, 5)]


def test_the_file_and_the_database_hold_the_same_document(tmp_path: Path, store: SqlStore) -> None:
    traces = some_traces(1)
    store.put_traces(traces)
    pending(store, Judging())

    to_file(traces, tmp_path / "v.jsonl")

    kept = store.get_verdict("t0").verification
    written = json.loads((tmp_path / "v.jsonl").read_text())
    assert written.pop("line_sha256").startswith("sha256:")
    assert written == verdict_document(kept)


def _verification(trace_id: str = "t1") -> Verification:
    return Verification(
        trace=a_trace(None, trace_id=trace_id),
        families={},
        claims=(),
        answer=AnswerDecision(decision=Decision.BLOCK, reasons=("no",)),
        versions=Versions(
            pipeline="p", config_sha256="c", embedder="e", pair_reader="r", precision="f",
            calibrator="k",
        ),
        latency_seconds={},
    )  # fmt: skip


def _written(path: Path) -> bytes:
    with verdict_file(path) as file:
        list(file.keep_while(lambda kept: True))
        file.append([_verification("t1"), _verification("t2")])
    return path.read_bytes()


def _kept(path: Path) -> list[str]:
    with verdict_file(path) as file:
        return [kept.trace.trace_id for kept in file.keep_while(lambda kept: True)]


@pytest.mark.parametrize("name", ["v.jsonl", "v.jsonl.gz"])
def test_lines_as_they_were_written_are_kept(tmp_path: Path, name: str) -> None:
    _written(tmp_path / name)

    assert _kept(tmp_path / name) == ["t1", "t2"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"decision":"block"', b'"decision":"allow"'),
        (b'"reasons":["no"]', b'"reasons":["ok"]'),
        (b'"line_sha256":"sha256:', b'"line_sha256":"sha256:0'),
    ],
)
def test_an_edited_line_is_not_trusted(tmp_path: Path, old: bytes, new: bytes) -> None:
    path = tmp_path / "v.jsonl"
    first, second = _written(path).splitlines(keepends=True)
    assert old in second
    path.write_bytes(first + second.replace(old, new))

    assert _kept(path) == ["t1"]


def test_a_line_without_its_digest_is_not_trusted(tmp_path: Path) -> None:
    path = tmp_path / "v.jsonl"
    document = json.loads(_written(path).splitlines()[0])
    del document["line_sha256"]
    path.write_text(json.dumps(document, separators=(",", ":")) + "\n")

    assert _kept(path) == []


def test_a_second_run_on_the_same_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "v.jsonl"

    with verdict_file(path), pytest.raises(InputError, match="another run"), verdict_file(path):
        pass

    assert _written(path)
