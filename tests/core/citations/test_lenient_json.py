"""Lenient JSON: what models write is read, every repair is named, nothing is lost in silence."""

from __future__ import annotations

import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.citations.lenient_json import read_lenient_json
from core.errors import InputError

LATTICE = {
    "claims": [
        {"text": "Orsel is deep, says the survey.", "evidence_ids": ["E1", "E2"]},
        {"text": "The harbour was finished in 1931.", "evidence_ids": ["E3"]},
    ]
}
PLAIN = json.dumps(LATTICE)

JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=15,
)


@given(JSON_VALUES)
def test_strict_json_is_read_as_it_stands(value: object) -> None:
    read = read_lenient_json(json.dumps(value))

    assert read.value == value
    assert (read.fixups, read.dropped) == ((), ())


@pytest.mark.parametrize(
    ("text", "fixup"),
    [
        (f"```json\n{PLAIN}\n```", "fence"),
        (f"```\n{PLAIN}\n```", "fence"),
        (f"Here you are: {PLAIN}", "prose_trim"),
        (f"{PLAIN}\n\nShall I add more?", "prose_trim"),
        (PLAIN.replace("}]}", "},]}"), "trailing_comma"),
        (PLAIN.replace('"claims"', "“claims”"), "curly_quotes"),
        (PLAIN.replace('"', "'"), "single_quotes"),
        (PLAIN.replace('"text"', "text"), "unquoted_key"),
        (PLAIN.replace("}, {", "} {"), "missing_comma"),
        (PLAIN.replace("{", "{ // note\n", 1), "comment"),
        ("\ufeff" + PLAIN, "byte_order_mark"),
        (PLAIN.replace("Orsel is", "Orsel\nis"), "control_character"),
        (PLAIN.replace("deep", 'so-called "deep" lake'), "unescaped_quote"),
        (PLAIN[:-1], "close_brace"),
        (PLAIN[:-2], "close_bracket"),
    ],
)
def test_a_repair_keeps_the_claims_and_is_named(text: str, fixup: str) -> None:
    read = read_lenient_json(text)

    assert fixup in read.fixups
    assert isinstance(read.value, dict)
    assert [claim["evidence_ids"] for claim in read.value["claims"]] == [["E1", "E2"], ["E3"]]


def test_a_text_cut_inside_a_string_keeps_what_was_written() -> None:
    read = read_lenient_json(PLAIN[: PLAIN.index("1931")])

    assert {"close_string", "close_brace", "close_bracket"} <= set(read.fixups)
    assert read.value["claims"][1]["text"] == "The harbour was finished in"  # type: ignore[index]


def test_a_key_without_value_is_dropped_by_name() -> None:
    read = read_lenient_json('{"claims": [{"text": "It is deep.", "evidence_ids":')

    assert "drop_partial_key" in read.fixups
    assert read.dropped == ('"evidence_ids":',)


def test_what_is_left_out_is_told() -> None:
    read = read_lenient_json(f"First words. {PLAIN} Last words.")

    assert read.dropped == ("First words.", "Last words.")


def test_a_second_value_and_a_key_twice_are_told() -> None:
    two = read_lenient_json('{"claims": []}\n{"claims": [1]}')
    twice = read_lenient_json('{"claims": [1], "claims": [2]}')

    assert two.dropped == ('{"claims": [1]}',)
    assert "extra_value" in two.fixups
    assert twice.value == {"claims": [2]}
    assert twice.dropped == ('{"claims": [1]}',)


def test_curly_quotes_inside_a_text_stay() -> None:
    read = read_lenient_json('{"claims": [{"text": "the “Long Bay” survey",}]}')

    assert read.value["claims"][0]["text"] == "the “Long Bay” survey"  # type: ignore[index]


def test_bytes_that_are_no_utf8_are_read_and_told() -> None:
    read = read_lenient_json(b'{"claims": "caf' + b"\xe9" + b'"}')

    assert "non_utf8" in read.fixups
    assert read.value == {"claims": "caf\ufffd"}


@pytest.mark.parametrize("text", ["", "   ", "no json here", '"only a string', "NaN"])
def test_without_an_object_it_says_so(text: str) -> None:
    with pytest.raises(InputError, match="no JSON"):
        read_lenient_json(text)


def test_bottomless_nesting_is_refused() -> None:
    with pytest.raises(InputError, match="nested deeper"):
        read_lenient_json("[" * 100_000)
    with pytest.raises(InputError, match="nested deeper"):
        read_lenient_json('{"a":' * 5_000)


def _damaged() -> list[str | bytes]:
    """Two hundred damaged lattices, always the same: cut, fenced, curly, swapped, broken bytes."""
    chance = random.Random(17)
    kinds: list[str | bytes] = [PLAIN[:cut] for cut in range(1, len(PLAIN), 3)]
    for mark in (*"}]\",:{[“'\\\x00", "```\n", "//", "\ud800"):
        for _ in range(8):
            place = chance.randrange(len(PLAIN))
            kinds.append(PLAIN[:place] + mark + PLAIN[place:])
    for _ in range(40):
        place = chance.randrange(len(PLAIN))
        kinds.append(
            PLAIN[:place].encode() + bytes([chance.randrange(128, 256)]) + PLAIN[place:].encode()
        )
    return kinds


def test_damaged_json_is_read_or_refused_in_words() -> None:
    for text in _damaged():
        try:
            read = read_lenient_json(text)
        except InputError as error:
            assert "JSON" in str(error) or "nested" in str(error), text
            continue
        assert read.fixups or json.loads(text) == read.value, text
        json.dumps(read.value)


@given(st.text(alphabet="{}[]\",:\\abc “”'1.-\n`/", max_size=60))
def test_no_text_breaks_the_reader(text: str) -> None:
    try:
        read_lenient_json(text)
    except InputError:
        return


@given(st.integers(0, len(PLAIN) - 1))
def test_no_word_of_a_cut_lattice_is_lost(cut: int) -> None:
    try:
        read = read_lenient_json(PLAIN[:cut])
    except InputError:
        assert cut == 0
        return
    kept = json.dumps(read.value, ensure_ascii=False) + " ".join(read.dropped)

    for word in ("Orsel", "survey", "harbour", "finished", "E1", "E2", "E3"):
        assert word not in PLAIN[:cut] or word in kept
