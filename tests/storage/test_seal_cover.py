"""Every table is covered by the trail, or stands in a list that says why not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.tamper import BEGIN, END, THREATS, Found, build, found, keys_in, table_of, tables
from storage.audit import TOLD
from storage.seals import COVERED, UNCOVERED

FOUND_BY_EVENTS = frozenset(model.__table__.name for model in TOLD)  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A database in which every table holds something, and the keys that sealed it."""
    folder = tmp_path_factory.mktemp("tamper")
    with keys_in(folder / "keys"):
        yield build(folder)


def test_every_table_is_covered_or_listed_with_a_reason(file: Path) -> None:
    covered, there = COVERED | FOUND_BY_EVENTS, set(tables(file))

    assert there - covered - UNCOVERED.keys() == set(), "neither covered nor listed"
    assert set(UNCOVERED) <= there, "listed, and there is no such table"
    assert not covered & UNCOVERED.keys()
    assert all(reason.strip() for reason in UNCOVERED.values())


@pytest.mark.parametrize(
    ("table", "unnoticed"),
    [
        ("verdict_state", ()),  # covered by seals
        ("role_grant", ()),  # told by events
        ("queue", ("rank", "reason")),  # worked out again
    ],
)
def test_what_is_changed_removed_or_added_behind_the_program_is_noticed(
    file: Path, table: str, unnoticed: tuple[str, ...]
) -> None:
    assert found(file, table).unnoticed == unnoticed


@pytest.mark.stress
def test_the_threat_model_tells_what_is_noticed_of_every_table(file: Path) -> None:
    every = [found(file, table) for table in tables(file)]
    report = table_of(every)

    told = THREATS.read_text(encoding="utf-8").partition(BEGIN)[2].partition(END)[0]
    assert not report.failed
    assert told.strip() == "\n".join(report.lines()).strip(), "python -m bench tamper --write"


def test_a_table_that_is_not_listed_may_leave_nothing_unnoticed() -> None:
    def report(table: str) -> bool:
        one = Found(table=table, altered={"a": True, "b": False}, deleted=True, inserted=True)
        return table_of([one]).failed

    assert report("vote")
    assert not report("draft")
