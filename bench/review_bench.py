"""How long the workbench keeps people waiting, with 10,000 traces and 100,000 claims in its database.

    python bench/review_bench.py [--db FILE_OR_URL] [--traces 10000] [--read 50000] [--votes 40]
                                 [--only steps,pages,large] [--plans]

Builds the database where ``--db`` names none, else measures what is there. Then it measures each step
of one more reviewer, every page of the workbench, and the steps that read everything. ``--plans``
lists the statements of each page that read a large table from end to end (SQLite). Seconds by the
clock say little on a busy machine: the load average and the processor's seconds stand beside them.
"""

from __future__ import annotations

import argparse
import dataclasses
import logging
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

_HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(_HERE), str(_HERE.parent), str(_HERE.parent / "tests")]

import big_database  # noqa: E402
from databases import workspace_of  # noqa: E402
from opening import drawn  # noqa: E402
from query_plans import Scan, scans, watched  # noqa: E402
from streamlit.testing.v1 import AppTest  # noqa: E402

from core.errors import InputError  # noqa: E402
from core.records import VerdictLabel  # noqa: E402
from core.review.records import Judgement, Person, Project  # noqa: E402
from core.workflows.review import ReviewSession, open_review_session  # noqa: E402
from storage.store import SqlStore, open_store  # noqa: E402

Done = TypeVar("Done")

PAGE_SECONDS = 1.0
NEXT_CLAIM_SECONDS = 0.3
PROJECT = big_database.PROJECT
SUPPORTED = Judgement(support=VerdictLabel.SUPPORTED, source_id="chart", conflation=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """Seconds by the clock, and on the processor."""

    clock: float
    busy: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """A page with the parameters of its address; by default in the hands of who leads."""

    page: str
    query: dict[str, str]
    blind: bool = False

    @property
    def name(self) -> str:
        """The page, and what is asked of it."""
        words = [self.page, *(f"{key}={value}" for key, value in self.query.items())]
        return " ".join([*words, *(["blind"] if self.blind else [])])


VISITS = (
    *(
        Visit(page=page, query={})
        for page in (
            "home",
            "traces",
            "review",
            "adjudicate",
            "people",
            "agreement",
            "recalibrate",
            "export",
            "audit",
            "evaluation",
            "thresholds",
            "repair",
        )
    ),
    Visit(page="traces", query={"search": "visit 00042"}),
    Visit(page="traces", query={"decision": "block", "order": "most_blocked", "page": "40"}),
    Visit(page="verdict", query={"trace": "bench-00007"}),
    Visit(page="repair", query={"trace": "bench-00007"}),
    # Whoever still has claims to read sees no verdict of theirs, in lists and counts alike.
    *(Visit(page=page, query={}, blind=True) for page in ("home", "traces", "people")),
    Visit(page="traces", query={"search": "visit 00042"}, blind=True),
    Visit(page="traces", query={"order": "most_blocked"}, blind=True),
    Visit(page="traces", query={"decision": "block", "page": "40"}, blind=True),
    Visit(page="traces", query={"decision": "pending"}, blind=True),
    Visit(page="verdict", query={"trace": "bench-00007"}, blind=True),
)


def timed(work: Callable[[], Done]) -> tuple[Taken, Done]:
    """Do it; how long it took, and what it gave."""
    start, busy = time.perf_counter(), time.process_time()
    done = work()
    return Taken(clock=time.perf_counter() - start, busy=time.process_time() - busy), done


def said(name: str, taken: list[Taken], limit: float | None = None) -> None:
    """One line of a table of steps."""
    clock, busy = [one.clock for one in taken], [one.busy for one in taken]
    middle = statistics.median(clock)
    verdict = "" if limit is None else f"  limit {limit:g} s  {'ok' if middle < limit else 'NO'}"
    print(
        f"{name:38} median {middle:7.3f} s  longest {max(clock):7.3f} s  "
        f"processor {statistics.median(busy):7.3f} s  n {len(taken)}{verdict}",
        flush=True,
    )


# ---------------------------------------------------------------- one reviewer


def measure_steps(store: SqlStore, project: Project, who: Person, votes: int) -> None:
    """What one verdict costs, without a screen: from the last answer to the next claim shown."""
    desk = open_review_session(workspace_of(store), project, who)
    times: dict[str, list[Taken]] = {}

    def note(name: str, work: Callable[[], Done]) -> Done:
        taken, done = timed(work)
        times.setdefault(name, []).append(taken)
        return done

    for _ in range(votes):
        item = note("next claim", desk.next_item)
        if item is None:
            break
        note("its trace", lambda item=item: store.get_trace(item.trace_id, item.content_hash))
        note("progress", desk.progress)
        note("guideline", workspace_of(store).guidelines.current)
        nonce = note("show", lambda item=item: desk.show(item.assignment_id))
        note("vote", lambda i=item, n=nonce: desk.annotate(i.assignment_id, n, SUPPORTED))
        note("reveal", lambda item=item: desk.reveal(item.assignment_id))
    for name, taken in times.items():
        said(name, taken)
    together = [
        Taken(clock=sum(one.clock for one in each), busy=sum(one.busy for one in each))
        for each in zip(*times.values(), strict=False)
    ]
    said("vote → next claim, in the database", together, NEXT_CLAIM_SECONDS)


def measure_keys(who: Person, votes: int) -> None:
    """What one verdict costs on the page: three answers, the verifier's view, and the next claim."""
    test = AppTest.from_file(str(PROJECT / "app.py"), default_timeout=600)
    test.query_params["as"] = str(who.person_id)
    test.run()
    test.switch_page("pages/review.py").run()
    seen, came = [], []
    for _ in range(votes):
        for key in ("v_supported", "own_1"):
            drawn(test, key).click().run()
        for key, taken in (("rightly_credited", seen), ("keep", came)):
            taken.append(timed(lambda key=key: drawn(test, key).click().run())[0])
            _no_fault(test, "review")
    said("last answer → verifier's view, page", seen, NEXT_CLAIM_SECONDS)
    said("keep → next claim, page", came, NEXT_CLAIM_SECONDS)


# ---------------------------------------------------------------- pages


def measure_pages(store: SqlStore, desk: ReviewSession, reader: Person, *, plans: bool) -> None:
    """Each page opened for the first time, after one more vote of somebody, and drawn once more."""
    there = {file.stem for file in (PROJECT / "pages").glob("*.py")} - {"__init__"}
    if there != {visit.page for visit in VISITS}:
        raise InputError(f"pages not measured: {sorted(there ^ {v.page for v in VISITS})}")
    print(
        f"{'page':44} {'first':>7} {'after a vote':>13} {'once more':>10}   "
        f"{'processor, the same three':25}   limit {PAGE_SECONDS:g} s"
    )
    found: dict[str, list[Scan]] = {}
    for visit in VISITS:
        first = opened(visit, reader)[0]
        one_more_vote(desk)
        with watched() as sent:
            after, test = opened(visit, reader)
        again, _ = timed(test.run)
        _no_fault(test, visit.name)
        fine = max(after.clock, again.clock) < PAGE_SECONDS
        print(
            f"{visit.name:44} {first.clock:7.2f} {after.clock:13.2f} {again.clock:10.2f}   "
            f"{first.busy:7.2f} {after.busy:8.2f} {again.busy:8.2f}   {'ok' if fine else 'NO'}",
            flush=True,
        )
        if plans and store.database.engine.dialect.name == "sqlite":
            found[visit.name] = scans(store.database.engine, sent)
    for name, some in found.items():
        print(f"\n{name}: reads in full")
        for scan in some:
            print(
                f"  {scan.table:14} {scan.how:6} {scan.seconds * 1000:7.1f} ms ×{scan.times}  "
                f"{scan.statement[:1500]}"
            )


def opened(visit: Visit, reader: Person) -> tuple[Taken, AppTest]:
    """A new session that opens a page; how long the page took, without the way there."""
    test = AppTest.from_file(str(PROJECT / "app.py"), default_timeout=600)
    if visit.blind:
        test.query_params["as"] = str(reader.person_id)
    for name, value in visit.query.items():
        test.query_params[name] = value
    taken, _ = timed(test.run)
    if visit.page != "home":
        taken, _ = timed(test.switch_page(f"pages/{visit.page}.py").run)
    _no_fault(test, visit.name)
    return taken, test


def _no_fault(test: AppTest, name: str) -> None:
    if test.exception:
        raise InputError(f"page {name}: {test.exception[0].message}")


def one_more_vote(desk: ReviewSession) -> None:
    """Somebody reads one more claim: what pages keep in memory is no longer true."""
    item = desk.next_item()
    assert item is not None
    desk.annotate(item.assignment_id, desk.show(item.assignment_id), SUPPORTED)


# ---------------------------------------------------------------- everything at once


def measure_large(store: SqlStore, project: Project) -> None:
    """What reads or moves everything, which no page does while somebody waits."""
    labels = workspace_of(store).labels
    said("labels.reviewed", [timed(lambda: labels.reviewed(project.project_id))[0]])
    said("labels.rows_with_features", [
        timed(lambda: labels.rows_with_features(project.project_id))[0]
    ])  # fmt: skip
    lead = workspace_of(store).people.local()
    taken = []
    for share in (0.3, 0.2):
        now = workspace_of(store).projects.default()
        wanted = dataclasses.replace(now.settings, audit_share=share)
        change = workspace_of(store).projects.change
        taken.append(
            timed(lambda now=now, to=wanted, do=change: do(now, to, by=lead, reason="measured"))[0]
        )
    said("settings that move all claims", taken)
    said("every link and document checked", [timed(store.verify_chain)[0]])


def main() -> None:
    """Build what is not there, measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--db", default=None)
    parser.add_argument("--traces", type=int, default=10_000)
    parser.add_argument("--read", type=int, default=50_000)
    parser.add_argument("--votes", type=int, default=40)
    parser.add_argument("--only", default="steps,pages,large")
    parser.add_argument("--plans", action="store_true")
    options = parser.parse_args()
    # Without a browser, which is meant: nobody needs to be told at every page.
    for name in [each for each in logging.root.manager.loggerDict if "streamlit" in each]:
        logging.getLogger(name).setLevel(logging.ERROR)
    wanted = set(options.only.split(","))
    address = options.db or str(Path(tempfile.mkdtemp()) / "bench.db")
    os.environ["PROVENANCEGUARD_DB"] = address
    built = open_store(address)
    if not built.overview().traces:
        big_database.fill(built, traces=options.traces, read=options.read, say=_say)
    big_database.put_evaluation(built, _say)
    built.close()
    store = open_store(address)
    who, others, project = big_database.staff(store)
    print(
        f"{store.name}: {open_review_session(workspace_of(store), project, who).progress()}\n"
        f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors, "
        f"this process had {time.process_time():.0f} s of them",
        flush=True,
    )
    if "steps" in wanted:
        measure_steps(store, project, who, options.votes)
        measure_keys(who, max(3, options.votes // 4))
    if "pages" in wanted:
        desk = open_review_session(workspace_of(store), project, others[0])
        measure_pages(store, desk, others[1], plans=options.plans)
    if "large" in wanted:
        measure_large(store, project)
    print(f"load average {os.getloadavg()[0]:.1f} at the end")


def _say(words: str) -> None:
    print(words, flush=True)


if __name__ == "__main__":
    main()
