"""Every statement that some work sends, and which of them read a large table from end to end."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Engine, event

# Tables that grow with traces, claims and what people say.
LARGE = frozenset(
    {
        "adjudication",
        "assignment",
        "audit_event",
        "claim",
        "claim_signal",
        "queue",
        "repair",
        "trace_slice",
        "trace_split",
        "trace_version",
        "verdict",
        "vote",
    }
)


@dataclass(slots=True)
class Sent:
    """One statement, as often as it was sent, and the seconds that the database took for it."""

    statement: str
    parameters: Any
    times: int = 0
    seconds: float = 0.0
    connection: Any = field(default=None, repr=False)


@contextmanager
def watched() -> Iterator[dict[str, Sent]]:
    """What any engine of this process is sent inside the block, by the statement's text.

    The seconds are those until the first row: SQLite sorts and counts before it, and reads the rest
    as it is fetched.
    """
    sent: dict[str, Sent] = {}
    began: dict[int, float] = {}

    def before(connection: Any, cursor: Any, *_: Any) -> None:
        began[id(cursor)] = time.perf_counter()

    def after(connection: Any, cursor: Any, statement: str, parameters: Any, *_: Any) -> None:
        one = sent.setdefault(statement, Sent(statement, parameters))
        one.times += 1
        one.seconds += time.perf_counter() - began.pop(id(cursor), time.perf_counter())

    event.listen(Engine, "before_cursor_execute", before)
    event.listen(Engine, "after_cursor_execute", after)
    try:
        yield sent
    finally:
        event.remove(Engine, "before_cursor_execute", before)
        event.remove(Engine, "after_cursor_execute", after)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scan:
    """A statement that reads all of a large table, or all of one of its indexes."""

    table: str
    how: str  # "table" or "index"
    seconds: float
    times: int
    statement: str


def scans(engine: Engine, sent: dict[str, Sent]) -> list[Scan]:
    """Which of the statements read a large table in full, the slowest first; SQLite only."""
    found = []
    with engine.connect() as connection:
        cursor = connection.connection.cursor()
        for one in sent.values():
            if not one.statement.lstrip().upper().startswith(("SELECT", "WITH")):
                continue
            plan = cursor.execute(f"EXPLAIN QUERY PLAN {one.statement}", one.parameters).fetchall()
            aliases = _aliases(one.statement)
            for *_, words in plan:
                said = re.match(r"SCAN (\w+)(.*)", str(words))
                if said is None:
                    continue
                table = aliases.get(said[1], said[1])
                if table in LARGE:
                    found.append(
                        Scan(
                            table=table,
                            how="index" if "COVERING INDEX" in said[2] else "table",
                            seconds=one.seconds,
                            times=one.times,
                            statement=" ".join(one.statement.split()),
                        )
                    )
    return sorted(found, key=lambda scan: -scan.seconds)


def _aliases(statement: str) -> dict[str, str]:
    """Alias → table, of what the statement reads."""
    return {
        alias: table
        for table, alias in re.findall(r"\b(?:FROM|JOIN|,)\s+(\w+) AS (\w+)", statement)
    }
