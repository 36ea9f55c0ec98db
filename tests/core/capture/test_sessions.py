"""The main thread of a session log, in work that grows with its lines."""

from __future__ import annotations

from core.capture.files import FileRecord
from core.capture.sessions import main_thread


class Uncompared(dict[str, object]):
    """A line that no other line is compared with."""

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        raise AssertionError("lines are compared one with another: work grows with their square")


def test_a_long_session_is_read_line_by_line() -> None:
    lines = [
        Uncompared(
            uuid=f"u{number}",
            parentUuid=f"u{number - 1}" if number else None,
            sessionId="s",
            message={"role": "assistant", "content": "text", "id": f"m{number}"},
        )
        for number in range(5)
    ]

    thread = main_thread([FileRecord(value=line, line=n) for n, line in enumerate(lines)], [])

    assert len(thread.records) == 5 and not thread.notices
