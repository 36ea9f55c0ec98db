"""What the service keeps in memory stays within its bounds."""

from __future__ import annotations

import pytest

from core.models.latest import Latest
from service.captured import Conversations, Room

pytest.importorskip("fastapi", reason="the extra [service] is not installed")


def test_the_longest_unused_makes_room_by_number_and_by_bytes() -> None:
    kept = Latest[str, str](3, 100)
    for name in "abc":
        kept.put(name, name.upper(), 10)
    assert kept.get("a") == "A"

    kept.put("d", "D", 10)

    assert kept.get("b") is None and kept.get("a") == "A" and len(kept) == 3
    kept.put("e", "E", 95)
    assert kept.get("e") == "E" and kept.bytes <= 100
    kept.put("e", "again", 20)
    assert kept.get("e") == "again" and kept.bytes == 20 + 10 * (len(kept) - 1)


def test_the_newest_is_kept_however_large_and_only_the_very_value_is_dropped() -> None:
    kept = Latest[str, list[int]](3, 100)
    first, second = [1], [1]
    kept.put("a", first, 1_000)

    kept.drop("a", second)
    assert kept.get("a") is first
    kept.drop("a", first)

    assert kept.get("a") is None and kept.bytes == 0


def test_conversations_stay_within_calls_bytes_and_number_and_say_what_is_gone() -> None:
    from core.capture.turns import CapturedCall

    room = Room(most_calls=3, most_bytes=1_000, most_conversations=2, most_bytes_together=1_500)
    kept = Conversations(room)

    def call(conversation: str, number: int, size: int) -> None:
        text = f"{number}: " + "x" * size
        kept.keep(conversation, CapturedCall(tool="t", output=text, call_id=str(number)))

    for number in range(5):
        call("one", number, 10)
    trace = kept.trace("one", "An answer.", "")
    assert [source.call_id for source in trace.sources] == ["2", "3", "4"]
    assert any(note.startswith("2 earlier calls") for note in trace.notices)

    call("two", 1, 900)
    call("two", 2, 900)
    assert [source.call_id for source in kept.trace("two", "A.", "").sources] == ["2"]

    call("three", 1, 2_000)
    (source,) = kept.trace("three", "A.", "").sources
    assert source.status.value == "not_captured" and "larger than 1,000 bytes" in (
        source.note or ""
    )
    assert kept.trace("one", "A.", "").sources == ()  # the third conversation took its place
    assert kept.bytes <= 1_500
