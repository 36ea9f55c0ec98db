"""Tool outputs as readable lines that point back to their bytes."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.capture.readable.nodes import NotStructured, string_offsets
from core.capture.readable.parsers import parse_json, parse_repr
from core.capture.readable.structured import Unfolded, unfold_output
from core.records import Span

FHIR = Path(__file__).parents[5] / "shared/data/fhir"

KEYS = st.sampled_from(["id", "name", "dose", "visit_date", "unité", "a b", "labs", "notes", "x.y"])
TEXTS = st.text(alphabet=st.characters(exclude_categories=["Cs", "Cc"]), max_size=12).filter(
    lambda text: text.lstrip()[:1] not in ("{", "[", '"')
)
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), TEXTS
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=5), st.dictionaries(KEYS, inner, max_size=5)),
    max_leaves=25,
)
DOCUMENTS = st.one_of(st.lists(VALUES, min_size=1), st.dictionaries(KEYS, VALUES, min_size=1))


CASES = [
    json.loads(line) for line in Path(__file__).with_name("cases.jsonl").read_text().splitlines()
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_an_output_reads_as_is_right(case):
    unfolded = unfold_output(case["raw"])

    parts = [[part.uri, part.title, part.text] for part in unfolded.parts]
    assert parts == case["expect"]["parts"]
    assert list(unfolded.notes) == case["expect"].get("notes", [])
    for flag, usual in (("error", False), ("cut", False), ("waiting", False), ("changed", True)):
        assert getattr(unfolded, flag) is case["expect"].get(flag, usual)
    json.dumps(parts, ensure_ascii=False).encode("utf-8")


def only(unfolded: Unfolded) -> str:
    (part,) = unfolded.parts
    return part.text


def leaves(value: object) -> list[object]:
    if isinstance(value, dict) and value:
        return [leaf for item in value.values() for leaf in leaves(item)]
    if isinstance(value, list) and value:
        return [leaf for item in value for leaf in leaves(item)]
    return [value]


@given(DOCUMENTS, st.booleans(), st.sampled_from([None, 1, 4]))
def test_every_mapped_range_of_generated_json_parses_to_the_value_shown(value, ascii_only, indent):
    raw = json.dumps(value, ensure_ascii=ascii_only, indent=indent)

    (part,) = unfold_output(raw).parts

    data = raw.encode()
    found = []
    for place in part.raw_map:
        parsed = json.loads(data[place.raw_start : place.raw_end])
        shown = place.text.cut(part.text)
        found.append(parsed)
        if isinstance(parsed, str) and parsed:
            assert shown == parsed
        else:
            assert shown == data[place.raw_start : place.raw_end].decode()
    for leaf in leaves(value):
        assert leaf in found


FHIR_KEYS = st.sampled_from([
    "id", "meta", "tag", "text", "code", "coding", "display", "name", "family", "status", "subject",
    "reference", "identifier", "value", "unit", "valueQuantity", "valueString", "component", "note",
    "extension", "url", "contained", "low", "high", "start", "total", "lastUpdated", "dosage",
])  # fmt: skip
WORDS = st.text("abcdefgh", min_size=8, max_size=8) | st.integers(10**7, 10**8 - 1)
FHIR_PARTS = st.dictionaries(
    FHIR_KEYS,
    st.recursive(
        WORDS,
        lambda inner: (
            st.dictionaries(FHIR_KEYS, inner, max_size=4)
            | st.lists(WORDS, max_size=3)
            | st.lists(st.dictionaries(FHIR_KEYS, inner, min_size=1, max_size=4), max_size=3)
        ),
        max_leaves=12,
    ),
    max_size=5,
)
UNTOLD = frozenset({
    "resourceType", "fullUrl", "request", "link", "system", "reference", "url", "version"
})  # fmt: skip


def said(value: object, untold: frozenset[str] = UNTOLD) -> list[object]:
    """The leaves that say something: all but addresses, kinds and transport."""
    if isinstance(value, dict):
        if value.get("status") == "generated" and "div" in value:  # a narrative of the rest
            return []
        hidden = untold | ({"type"} if value.get("resourceType") == "Bundle" else set())
        return [leaf for k, part in value.items() if k not in hidden for leaf in said(part, untold)]
    if isinstance(value, list):
        return [leaf for item in value for leaf in said(item, untold)]
    return [] if value is None or isinstance(value, bool) else [value]


@settings(max_examples=50)
@given(FHIR_PARTS, st.lists(st.tuples(FHIR_PARTS, FHIR_PARTS), max_size=3))
def test_every_value_of_a_fhir_resource_is_in_what_is_read(bundle, entries):
    entry = [
        {**beside, "resource": {**resource, "resourceType": "Observation"}}
        for beside, resource in entries
    ]
    value = {**bundle, "resourceType": "Bundle", "type": "searchset", "entry": entry}

    text = only(unfold_output(json.dumps(value)))

    assert [leaf for leaf in said(value) if str(leaf) not in text] == []


BESIDE = st.dictionaries(
    st.sampled_from(["_meta", "annotations", "context", "title", "name", "score", "lastModified"]),
    st.recursive(
        WORDS,
        lambda inner: (
            st.dictionaries(FHIR_KEYS, inner, min_size=1, max_size=3)
            | st.lists(inner, min_size=1, max_size=2)
        ),
        max_leaves=6,
    ),
    max_size=3,
)
LETTERS = st.text("abcdefgh", min_size=8, max_size=8)
BLOCKS = st.one_of(
    st.builds(lambda text, beside: {"type": "text", "text": text, **beside}, LETTERS, BESIDE),
    st.builds(lambda beside: {"type": "image", "data": "", **beside}, BESIDE),
    st.builds(lambda uri, beside: {"type": "resource_link", "uri": uri, **beside}, LETTERS, BESIDE),
    st.builds(
        lambda text, own, beside: {"type": "resource", "resource": {**own, **text}, **beside},
        st.fixed_dictionaries({"uri": LETTERS}, optional={"text": LETTERS}), BESIDE, BESIDE,
    ),
    st.builds(
        lambda source, text, beside: {"type": "search_result", "source": source, **text, **beside},
        LETTERS,
        st.fixed_dictionaries({"content": st.lists(st.fixed_dictionaries(
            {"type": st.just("text"), "text": LETTERS}), min_size=1, max_size=2)})
        | st.fixed_dictionaries({"text": LETTERS}),
        BESIDE,
    ),
    st.builds(
        lambda text, own, beside: {
            "type": "document", "source": {**own, "type": "text", "data": text}, **beside,
        },
        LETTERS, BESIDE, BESIDE,
    ),
)  # fmt: skip


@settings(max_examples=100)
@given(st.lists(BLOCKS, min_size=1, max_size=3), BESIDE, st.lists(BESIDE, max_size=2))
def test_every_value_of_a_tools_result_is_in_what_is_read(blocks, beside, citations):
    result = {"content": blocks, "isError": False, "citations": citations, **beside}

    parts = unfold_output(json.dumps(result)).parts

    read = "\n".join(f"{part.uri}\n{part.title}\n{part.text}" for part in parts)
    told = said(result, frozenset({"type"}))
    assert [leaf for leaf in told if str(leaf) not in read] == []


@pytest.mark.parametrize(
    ("block", "lines"),
    [
        (
            {"type": "resource", "resource": {"uri": "chart://1", "name": "penicillin",
             "allergy": "penicillin", "text": "Visit note."}},
            ["allergy: penicillin", "Visit note."],
        ),
        ({"type": "resource_link", "uri": "u", "name": "atenolol", "drug": "atenolol"}, ["drug: atenolol"]),
        (
            {"type": "search_result", "source": "https://a.example/1", "title": "stable",
             "outcome": "stable", "content": [{"type": "text", "text": "Read."}]},
            ["outcome: stable", "title: stable", "Read."],
        ),
        (
            {"type": "text", "text": "A", "order": {"baggage": "2 bags", "status": "final"}},
            ["baggage: 2 bags"],
        ),
    ],
)  # fmt: skip
def test_a_field_stands_whatever_else_has_its_value_or_its_name(block, lines):
    parts = unfold_output(json.dumps({"content": [block]})).parts

    read = "\n".join(part.text for part in parts)
    assert [line for line in lines if line not in read] == []


@given(st.dictionaries(KEYS, SCALARS, min_size=1), st.booleans())
def test_values_of_json_inside_json_text_inside_a_repr_point_to_their_escaped_bytes(
    value, ascii_only
):
    inner = json.dumps(value, ensure_ascii=ascii_only)
    middle = json.dumps({"content": [{"type": "text", "text": inner}], "isError": False})
    raw = f"meta=None content=[TextContent(type='text', text={middle!r}, annotations=None)] isError=False"

    (part,) = unfold_output(raw).parts

    data = raw.encode()
    assert len(part.raw_map) >= len(value)
    for place in part.raw_map:
        written = data[place.raw_start : place.raw_end].decode()
        quote = "'" if "text='{" in raw else '"'
        unescaped = parse_repr(quote + written + quote).node.value
        parsed = json.loads(json.loads(f'"{unescaped}"'))
        shown = place.text.cut(part.text)
        assert (
            shown == parsed if isinstance(parsed, str) and parsed else json.loads(shown) == parsed
        )


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=40), st.booleans())
def test_offsets_of_an_escaped_string_find_each_character_again(text, ascii_only):
    raw = json.dumps(text, ensure_ascii=ascii_only)
    node = parse_json(raw).node if "\x00" not in text else None
    if node is None or node.value != text:
        assert any(ord(c) < 32 or c == "\x7f" for c in text)
        return

    offsets = string_offsets(raw, node)

    for index, character in enumerate(text):
        assert json.loads('"' + raw[offsets[index] : offsets[index + 1]] + '"') == character
    assert len(offsets) == len(text) + 1


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\x00")))
def test_a_python_string_is_read_as_python_reads_it(text):
    node = parse_repr(repr(text)).node

    assert node.value == text


@given(st.text(alphabet="{}[]()'\",:= abTN01\\<>", max_size=40))
def test_any_text_at_all_is_read_or_kept_and_never_raises(text):
    unfolded = unfold_output(text)

    if not unfolded.changed:
        assert not text.strip() or only(unfolded) == text


@pytest.mark.parametrize("depth", [200, 20_000])
@pytest.mark.parametrize("opening", ["[", '{"a":', "(", "{"])
def test_a_nesting_bomb_stays_text(depth, opening):
    unfolded = unfold_output(opening * depth)

    assert only(unfolded) == opening * depth


def test_a_repr_with_a_call_in_it_is_read_and_never_run(tmp_path):
    target = tmp_path / "made"
    raw = f"{{'a': __import__('os').mkdir({str(target)!r}), 'b': 'kept'}}"

    unfold_output(raw)

    assert not target.exists()


def test_an_error_inside_the_inner_result_is_an_error():
    inner = json.dumps(
        {"_meta": None, "content": [{"type": "text", "text": "no such chart"}], "isError": True}
    )
    raw = f"meta=None content=[TextContent(type='text', text={inner!r}, annotations=None)] isError=False"

    unfolded = unfold_output(raw)

    assert unfolded.error
    assert only(unfolded) == "no such chart"


@given(st.integers(min_value=60, max_value=400))
def test_a_result_that_breaks_off_anywhere_keeps_what_came_and_says_so(length):
    rows = json.dumps({"rows": [{"name": f"row {n}", "value": 100 + n} for n in range(20)]})
    raw = f"meta=None content=[TextContent(type='text', text={rows!r}, annotations=None)] isError=False"

    unfolded = unfold_output(raw[:length])

    assert unfolded.cut
    text = only(unfolded) if unfolded.parts else ""
    shown = [line.partition(": ")[2] for line in text.splitlines() if ": " in line]
    whole = {str(100 + n) for n in range(20)}
    assert all(value in whole for value in shown if value.isdigit())
    assert not any("none listed" in value for value in shown)


def bundle() -> dict[str, object]:
    patient = {
        "resourceType": "Patient",
        "id": "p1",
        "name": [{"family": "Okafor", "given": ["Ines"]}],
        "birthDate": "1971-02-03",
    }
    observation = {
        "resourceType": "Observation",
        "id": "o1",
        "status": "final",
        "code": {"coding": [{"system": "http://loinc.org", "code": "4548-4"}], "text": "HbA1c"},
        "subject": {"reference": "urn:uuid:p1"},
        "effectiveDateTime": "2024-05-01",
        "valueQuantity": {"value": 7.10, "unit": "%"},
    }
    return {
        "resourceType": "Bundle",
        "entry": [
            {"fullUrl": "urn:uuid:p1", "resource": patient},
            {"fullUrl": "urn:uuid:o1", "resource": observation},
        ],
    }


def test_a_person_can_be_led_from_a_lab_value_to_its_bytes():
    raw = json.dumps(bundle())
    (part,) = unfold_output(raw).parts
    start = part.text.index("7.1 %")

    value = Span(start=start, end=start + 3)
    (found,) = (place for place in part.raw_map if place.text.overlaps(value))

    assert raw.encode()[found.raw_start : found.raw_end] == b"7.1"


@pytest.mark.skipif(not FHIR.is_dir(), reason="the shared FHIR bundles are not here")
def test_real_bundles_lose_no_value_and_map_exactly():
    for path in random.Random(7).sample(sorted(FHIR.glob("*.json.gz")), 3):
        raw = gzip.decompress(path.read_bytes()).decode()
        (part,) = unfold_output(raw).parts

        data = raw.encode()
        for place in part.raw_map:
            parsed = json.loads(data[place.raw_start : place.raw_end])
            shown = place.text.cut(part.text)
            assert shown == (parsed if isinstance(parsed, str) else shown)
        whole = json.loads(raw, parse_float=str, parse_int=str)
        assert [leaf for leaf in said(whole) if str(leaf) not in part.text] == []
        for entry in json.loads(raw)["entry"]:
            quantity = entry["resource"].get("valueQuantity")
            if quantity:
                assert f"{quantity['value']} {quantity['unit']}" in part.text


def test_a_document_that_is_no_json_is_refused_by_the_json_reader():
    for text in ("{'a': 1}", '{"a" 1}', '{"a": 1,}', '{"a": tru}', '["\\q and more text"]'):
        with pytest.raises(NotStructured):
            parse_json(text)
