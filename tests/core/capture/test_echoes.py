"""What a tool gives back of the agent's arguments: what is left out, and what it costs to see it."""

from __future__ import annotations

import json
import random
import time

from builders import a_source

from core.capture import echoes
from core.capture.echoes import without_echoes
from core.records import Source


def _call(number: int, text: str = "", **arguments: object) -> Source:
    return a_source(text, f"save#{number}", "save", arguments=json.dumps(arguments))


def test_what_records_repeat_of_many_calls_is_found_in_work_that_grows_with_the_text() -> None:
    calls = [
        _call(n, who=f"patient {n}", ward=f"ward {n * 7}", note="checked by nurse again")
        for n in range(5000)
    ]
    blocks = "\n\n".join(f"name: person {n}\nresult: high {n}\nby: nurse lab" for n in range(5000))
    output = a_source(blocks, "list#1", "list")

    began = time.process_time()
    read = without_echoes("", [*calls, output])[-1]

    assert read.text == blocks
    assert time.process_time() - began < 3


def test_the_first_call_that_is_most_of_a_record_is_found_as_by_comparing_each() -> None:
    rng = random.Random(11)
    vocabulary = [f"{letter}{letter}{other}" for letter in "bcdfgh" for other in "klmn"]
    own = echoes._Own("")
    for number in range(60):
        own.read(_call(number, said=" ".join(rng.sample(vocabulary, rng.randint(2, 12)))))

    found = 0
    for _ in range(2000):
        words = set(rng.sample(vocabulary, rng.randint(4, 9)))
        expected = next(
            (r for r in own.records if len(words & r) >= max(4, 2 / 3 * len(words))), None
        )
        assert own._like(words) == expected
        found += expected is not None
    assert 200 < found < 1900


def test_the_identifier_by_which_a_record_was_asked_for_stays_in_it() -> None:
    for name in ("VQ8T2M", "9b2e4c1d-77aa-4f0e-8c11-0d9e5f6a7b8c"):
        text = f"reservation: {name}\nstatus: open\npassengers: 1"

        (read,) = without_echoes("", [_call(1, text, reservation=name)])

        assert read.text == text
