"""kill -9 in the middle of what people and programs do: nothing that was told done is lost, nothing stays.

Each is killed at times spread over how long it takes, in a process of its own on a copy of the database;
done again, it comes to what one run without a kill comes to.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
import zstandard
from commands import a_record, run, write_lines
from databases import a_store, in_one_file, workspace_of
from forests import a_calibrator
from lexical import lexical_models
from reviewing import SUPPORTED, UNSUPPORTED, Clock, Office, a_reviewed_trace, an_office

from core.config import Config
from core.review.records import Cause
from core.workflows.packet_folder import check_packet
from core.workflows.verify import verify_pending
from storage.store import SqlStore
from tests.storage.test_migrate import ITS_KEY, OF_0_19_0

# PROVENANCEGUARD_KILLS: of each of the six.
KILLS = int(os.environ.get("PROVENANCEGUARD_KILLS", "10"))
Act = Callable[[Path], None]


def told_done(folder: Path, what: str) -> None:
    """Note what a caller was told: it stands on the disk before anything else is done."""
    with (folder / "done").open("a") as file:
        file.write(f"{what}\n")


def imports(folder: Path) -> None:
    more = folder / "more.jsonl"
    assert run("import", more, "--db", folder / "w.db").exit_code == 0
    told_done(folder, "import")


def verifies(folder: Path) -> None:
    store = a_store(folder / "w.db")
    verify_pending(store, lexical_models(), Config(), batch=1)
    store.close()


def _office(folder: Path) -> Office:
    made = workspace_of(a_store(folder / "w.db", actor="test"), shipped=folder / "shipped")
    people = {one.name: one for one in made.people.everybody()}
    return Office(workspace=made, clock=Clock(), project=made.project(), people=people)


def adjudicates(folder: Path) -> None:
    desk = _office(folder).desk("Dora")
    while (tie := desk.next_disagreement()) is not None:
        nonce = desk.show(tie.assignment_id)
        desk.adjudicate(
            tie, nonce, UNSUPPORTED, cause=Cause.GUIDELINE_GAP, guideline_needs_fix=True, rule="3",
            rationale="rule 3 is silent",
        )  # fmt: skip
        told_done(folder, f"claim {tie.claim_key}")


def exports(folder: Path) -> None:
    done = run("export", "--out", folder / "packet", "--db", folder / "w.db")
    assert done.exit_code == 0 or "there is something already" in done.output, done.output


def migrates(folder: Path) -> None:
    a_store(folder / "old.db").close()


def promotes(folder: Path) -> None:
    office = _office(folder)
    if rows(office.store)["promotion"]:
        return
    calibrators, lea = office.workspace.calibrators, office.people["Lea"]
    name = calibrators.keep(folder / "fitted", {"claims": 12}, {"votes": [1]}, by=lea)
    calibrators.promote(name, "fewer good claims are blocked", lea)
    told_done(folder, "promotion")


# What is done, in which database, and the table whose rows say how much of it was.
ACTS: dict[str, tuple[Act, str, str]] = {
    "import": (imports, "w.db", "trace_version"),
    "verify": (verifies, "w.db", "verdict"),
    "adjudicate": (adjudicates, "w.db", "adjudication"),
    "export": (exports, "w.db", "trace_version"),
    "migrate": (migrates, "old.db", "verdict"),
    "promote": (promotes, "w.db", "promotion"),
}


@pytest.fixture
def prepared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A database with ties to decide, claims to export and traces to verify; one of 0.19.0; a file."""
    folder = tmp_path / "prepared"
    keys = folder / "keys"
    folder.mkdir()
    keys.mkdir(mode=0o700)
    (keys / "trail.key").touch(mode=0o600)
    (keys / "trail.key").write_text(ITS_KEY + "\n", encoding="utf-8")
    monkeypatch.setenv("PROVENANCEGUARD_KEYS", str(keys))
    a_calibrator(folder / "shipped", threshold=0.5)
    a_calibrator(folder / "fitted", above=0.8, threshold=0.7)
    office = an_office(
        a_store(folder / "w.db", actor="test"),
        shipped=folder / "shipped",
        reads_per_claim=2,
        dwell_milliseconds=0,
        verifications=[a_reviewed_trace(number) for number in range(1, 4)],
    )
    while office.read("Ada", SUPPORTED) is not None:
        pass
    for number in range(12):
        office.read("Ben", SUPPORTED if number % 2 else UNSUPPORTED)
    office.store.put_traces(a_reviewed_trace(number).trace for number in range(10, 20))
    in_one_file(office.store)
    office.store.close()
    write_lines(folder / "more.jsonl", *map(a_record, range(20)))
    (folder / "old.db").write_bytes(zstandard.ZstdDecompressor().decompress(OF_0_19_0.read_bytes()))
    return folder


def rows(store: SqlStore) -> dict[str, int]:
    with store.database.reading() as connection:
        return {
            table: connection.exec_driver_sql(f"SELECT count(*) FROM {table}").scalar_one()
            for table in ("trace_version", "verdict", "adjudication", "promotion")
        }


def process(act: Act, folder: Path) -> Any:
    """The act in a copy of this process, which has loaded all that it needs."""
    one = multiprocessing.get_context("fork").Process(target=act, args=(folder,), daemon=True)
    one.start()
    return one


def checked(folder: Path, file: str) -> dict[str, int]:
    """The rows of a database whose trail, seals and tables are as they were written."""
    store = a_store(folder / file)
    assert store.verify_chain().problems == ()
    found = rows(store)
    store.close()
    return found


@pytest.mark.stress
@pytest.mark.parametrize("name", ACTS)
def test_killed_at_any_time_it_loses_nothing_told_done_and_leaves_nothing(
    name: str, prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def copy(called: str) -> Path:
        """With keys of its own: an anchor of one copy contradicts every other."""
        folder = shutil.copytree(prepared, tmp_path / called)
        monkeypatch.setenv("PROVENANCEGUARD_KEYS", str(folder / "keys"))
        return folder

    act, file, table = ACTS[name]
    act(copy("first"))  # loads what every later process has
    whole = copy("whole")
    began, one = monotonic(), process(act, whole)
    one.join()
    seconds, expected = monotonic() - began, checked(whole, file)
    assert one.exitcode == 0
    draw, killed = random.Random(name), 0

    for number in range(KILLS):
        folder = copy(f"{number}")
        one = process(act, folder)
        one.join(seconds * (number + draw.random()) / KILLS)
        one.kill()
        one.join()
        killed += one.exitcode == -signal.SIGKILL
        found = checked(folder, file) if file != "old.db" else expected
        done = folder / "done"
        told = len(done.read_text().splitlines()) if done.exists() else 0
        if name == "import" and told:
            assert found == expected
        if name in ("adjudicate", "promote"):
            assert told <= found[table] <= told + 1

        act(folder)

        assert checked(folder, file) == expected
        if name == "export":
            assert check_packet(folder / "packet").intact
            assert run("export", "--out", folder / "again", "--db", folder / file).exit_code == 0
        assert not [*folder.glob(".*")], "something was left behind"
        shutil.rmtree(folder)
    assert killed
