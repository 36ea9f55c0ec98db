"""How long the workbench keeps people waiting, with 10,000 traces and 100,000 claims in its database.

    python -m bench review [--db FILE_OR_URL] [--traces 10000] [--read 50000] [--annotations 40]

Builds the database where ``--db`` names none, else measures what is there: each step of one more reviewer,
every page of the workbench, and what reads everything. Seconds by the clock say little on a busy machine:
the load average and the processor's seconds stand beside them.
"""

from __future__ import annotations

import argparse
import dataclasses
import logging
import os
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from databases import workspace_of
from opening import drawn
from streamlit.testing.v1 import AppTest

from bench import big_database
from bench.report import Cell, Report
from core.errors import InputError
from core.records import VerdictLabel
from core.review.records import Judgement, Person
from storage.reviews import ReviewSession
from storage.store import SqlStore, open_store

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


PAGES = (
    "home traces review adjudicate people settings agreement recalibrate export audit evaluation "
    "thresholds repair"
).split()
VISITS = (
    *(Visit(page=page, query={}) for page in PAGES),
    Visit(page="review", query={"show": "mine"}, blind=True),
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


def line(name: str, taken: list[Taken], limit: float | None = None) -> tuple[Cell, ...]:
    """A row of the table of steps."""
    clock, busy = [one.clock for one in taken], [one.busy for one in taken]
    middle = statistics.median(clock)
    verdict = None if limit is None else f"{'below' if middle < limit else 'ABOVE'} {limit:g}"
    return name, middle, max(clock), statistics.median(busy), len(taken), verdict


# ---------------------------------------------------------------- one reviewer


def measure_steps(store: SqlStore, who: Person, annotations: int) -> Iterator[tuple[Cell, ...]]:
    """Yield what one verdict costs without a screen: from the last answer to the next claim shown."""
    desk = workspace_of(store).reviews(who)
    times: dict[str, list[Taken]] = defaultdict(list)

    def note(name: str, work: Callable[[], Done]) -> Done:
        taken, done = timed(work)
        times[name].append(taken)
        return done

    for _ in range(annotations):
        item = note("next claim", desk.next_item)
        if item is None:
            break
        note("its trace", lambda item=item: store.get_trace(item.trace_id, item.content_hash))
        note("progress", desk.progress)
        note("guideline", workspace_of(store).guidelines.current)
        nonce = note("show", lambda item=item: desk.show(item.assignment_id))
        note("vote", lambda i=item, n=nonce: desk.annotate(i.assignment_id, n, SUPPORTED))
        note("reveal", lambda item=item: desk.reveal(item.assignment_id))
    yield from (line(name, taken) for name, taken in times.items())
    together = [
        Taken(clock=sum(one.clock for one in each), busy=sum(one.busy for one in each))
        for each in zip(*times.values(), strict=False)
    ]
    yield line("vote → next claim, in the database", together, NEXT_CLAIM_SECONDS)


def measure_keys(who: Person, annotations: int) -> Iterator[tuple[Cell, ...]]:
    """Yield what one verdict costs on the page: three answers, the verifier's view, and the next claim."""
    test = AppTest.from_file(str(PROJECT / "app.py"), default_timeout=600)
    test.query_params["as"] = str(who.person_id)
    test.run()
    test.switch_page("pages/review.py").run()
    seen, came = [], []
    for _ in range(annotations):
        for key in ("v_supported", "own_1"):
            drawn(test, key).click().run()
        for key, taken in (("rightly_credited", seen), ("keep", came)):
            taken.append(timed(lambda key=key: drawn(test, key).click().run())[0])
            _no_fault(test, "review")
    yield line("last answer → verifier's view, page", seen, NEXT_CLAIM_SECONDS)
    yield line("keep → next claim, page", came, NEXT_CLAIM_SECONDS)


# ---------------------------------------------------------------- pages


def measure_pages(desk: ReviewSession, annotator: Person) -> Iterator[tuple[Cell, ...]]:
    """Yield each page opened for the first time, after one more vote of somebody, and drawn once more."""
    there = {file.stem for file in (PROJECT / "pages").glob("*.py")} - {"__init__"}
    if there != {visit.page for visit in VISITS}:
        raise InputError(f"pages not measured: {sorted(there ^ {v.page for v in VISITS})}")
    for visit in VISITS:
        first = opened(visit, annotator)[0]
        one_more_vote(desk)
        after, test = opened(visit, annotator)
        again, _ = timed(test.run)
        _no_fault(test, visit.name)
        fine = max(after.clock, again.clock) < PAGE_SECONDS
        taken = (first, after, again)
        verdict = f"{'below' if fine else 'ABOVE'} {PAGE_SECONDS:g}"
        yield visit.name, *(t.clock for t in taken), *(t.busy for t in taken), verdict


def opened(visit: Visit, annotator: Person) -> tuple[Taken, AppTest]:
    """A new session that opens a page; how long the page took, without the way there."""
    test = AppTest.from_file(str(PROJECT / "app.py"), default_timeout=600)
    if visit.blind:
        test.query_params["as"] = str(annotator.person_id)
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


def measure_large(store: SqlStore) -> Iterator[tuple[Cell, ...]]:
    """Yield what reads or moves everything, which no page does while somebody waits."""
    labels, projects = workspace_of(store).labels, workspace_of(store).projects
    lead = workspace_of(store).people.local()

    def audit_share(share: float) -> object:
        now = projects.default()
        wanted = dataclasses.replace(now.settings, audit_share=share)
        return projects.change(now, wanted, by=lead, reason="measured")

    for name, *works in (
        ("labels.reviewed", lambda: labels.reviewed()),
        ("settings that move all claims", lambda: audit_share(0.3), lambda: audit_share(0.2)),
        ("every link and document checked", store.verify_chain),
    ):
        yield line(name, [timed(work)[0] for work in works])


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of this suite."""
    parser.add_argument("--db", default=None)
    parser.add_argument("--traces", type=int, default=10_000)
    parser.add_argument("--read", type=int, default=50_000)
    parser.add_argument("--annotations", type=int, default=40)


def run(options: argparse.Namespace) -> Report:
    """Build what is not there, and measure."""
    # Without a browser, which is meant: nobody needs to be told at every page.
    for name in [each for each in logging.root.manager.loggerDict if "streamlit" in each]:
        logging.getLogger(name).setLevel(logging.ERROR)
    address = options.db or str(Path(tempfile.mkdtemp()) / "bench.db")
    os.environ["PROVENANCEGUARD_DB"] = address
    built = open_store(address)
    if not built.overview().traces:
        big_database.fill(built, traces=options.traces, read=options.read)
    big_database.put_evaluation(built)
    built.close()
    store = open_store(address)
    who, others = big_database.staff(store)
    report = Report(notes=[f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors"])
    columns = ("step", "median s", "longest s", "processor s", "n", "limit s")
    report.table("steps", columns, [
        *measure_steps(store, who, options.annotations),
        *measure_keys(who, max(3, options.annotations // 4)),
    ])  # fmt: skip
    desk = workspace_of(store).reviews(others[0])
    seen = ("first", "after an annotation", "once more")
    report.table("pages", ("page", *seen, *(f"{one}, processor" for one in seen), "limit s"),
                 measure_pages(desk, others[1]))  # fmt: skip
    report.table("everything at once", columns, measure_large(store))
    report.notes.append(f"load average {os.getloadavg()[0]:.1f} at the end")
    store.close()
    return report
