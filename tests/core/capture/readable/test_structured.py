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
@settings(max_examples=150, deadline=None)
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


@given(st.dictionaries(KEYS, SCALARS, min_size=1), st.booleans())
@settings(max_examples=100, deadline=None)
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
@settings(max_examples=200, deadline=None)
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
@settings(max_examples=200, deadline=None)
def test_a_python_string_is_read_as_python_reads_it(text):
    node = parse_repr(repr(text)).node

    assert node.value == text


@given(st.text(alphabet="{}[]()'\",:= abTN01\\<>", max_size=40))
@settings(max_examples=300, deadline=None)
def test_any_text_at_all_is_read_or_kept_and_never_raises(text):
    unfolded = unfold_output(text)

    if not unfolded.changed:
        assert not text.strip() or only(unfolded) == text


def test_text_that_is_not_structured_stays_verbatim_without_a_map():
    unfolded = unfold_output("The ward is quiet.\n\nNobody is {waiting}.")

    assert unfolded.parts[0].text == "The ward is quiet.\n\nNobody is {waiting}."
    assert unfolded.parts[0].raw_map == ()
    assert not unfolded.changed


def test_records_of_a_list_are_blocks_that_each_name_what_is_above_them():
    raw = json.dumps(
        {
            "patient_name": "Ines Okafor",
            "medications": [
                {"name": "metformin", "dose": "500 mg"},
                {"name": "lisinopril", "dose": "10 mg"},
            ],
        }
    )

    blocks = only(unfold_output(raw)).split("\n\n")

    assert blocks == [
        "patient_name: Ines Okafor",
        "patient_name: Ines Okafor\nmedications.name: metformin\nmedications.dose: 500 mg",
        "patient_name: Ines Okafor\nmedications.name: lisinopril\nmedications.dose: 10 mg",
    ]


def test_list_positions_do_not_become_numbers_in_the_evidence():
    raw = json.dumps({"results": [{"title": "one"}, {"title": "two"}, {"title": "three"}]})

    assert not any(character.isdigit() for character in only(unfold_output(raw)))


def test_numbers_are_shown_as_written_and_duplicate_keys_are_kept():
    raw = '{"k": 1.10, "k": 1e5, "big": 123456789012345678901234567890.0, "z": -0}'

    assert only(unfold_output(raw)) == (
        "k: 1.10\nk: 1e5\nbig: 123456789012345678901234567890.0\nz: -0"
    )


def test_an_empty_list_says_that_nothing_is_listed():
    assert only(unfold_output('{"allergies": []}')) == "allergies: [] (none listed)"


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


def test_structured_content_that_repeats_the_text_is_one_source_not_two():
    data = {"temperature": 37.5, "site": "ear"}
    raw = json.dumps(
        {"content": [{"type": "text", "text": json.dumps(data)}], "structuredContent": data}
    )

    assert only(unfold_output(raw)) == "temperature: 37.5\nsite: ear"


@pytest.mark.parametrize("result", [["asthma", "gout"], "asthma", [{"a": 1}, {"a": 2}]])
def test_what_a_server_wraps_as_result_is_not_said_twice(result):
    items = result if isinstance(result, list) else [result]
    texts = [item if isinstance(item, str) else json.dumps(item) for item in items]
    raw = json.dumps(
        {
            "content": [{"type": "text", "text": text} for text in texts],
            "structuredContent": {"result": result},
        }
    )

    assert "result" not in only(unfold_output(raw))


def test_structured_content_that_says_more_is_kept_beside_the_text():
    raw = json.dumps(
        {
            "content": [{"type": "text", "text": "Found Ines Okafor"}],
            "structuredContent": {"mrn": "MRN-44120"},
        }
    )

    assert only(unfold_output(raw)) == "Found Ines Okafor\n\nmrn: MRN-44120"


def test_an_error_inside_the_inner_result_is_an_error():
    inner = json.dumps(
        {"_meta": None, "content": [{"type": "text", "text": "no such chart"}], "isError": True}
    )
    raw = f"meta=None content=[TextContent(type='text', text={inner!r}, annotations=None)] isError=False"

    unfolded = unfold_output(raw)

    assert unfolded.error
    assert only(unfolded) == "no such chart"


@given(st.integers(min_value=60, max_value=400))
@settings(max_examples=60, deadline=None)
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


def test_embedded_resources_are_sources_of_their_own_and_images_are_noted():
    raw = json.dumps(
        {
            "content": [
                {"type": "text", "text": "Two notes."},
                {"type": "resource", "resource": {"uri": "ehr://note/1", "text": "Afebrile."}},
                {"type": "image", "mimeType": "image/png", "data": "AAAA"},
                {"type": "resource_link", "uri": "ehr://note/2", "name": "Discharge"},
            ]
        }
    )

    unfolded = unfold_output(raw)

    assert [(part.uri, part.text) for part in unfolded.parts] == [
        (None, "Two notes.\n\nresource link: Discharge · ehr://note/2"),
        ("ehr://note/1", "Afebrile."),
    ]
    assert any("image (image/png)" in note for note in unfolded.notes)


def test_a_json_document_behind_a_sentence_is_unfolded_and_the_sentence_kept():
    raw = 'Found 1 patient:\n[{"name": "Ines Okafor", "mrn": "MRN-44120", "ward": "B"}]'

    text = only(unfold_output(raw))

    assert text.startswith("Found 1 patient:\n")
    assert "mrn: MRN-44120" in text


def test_lone_surrogates_can_be_encoded_afterwards():
    text = only(unfold_output('{"name": "A\\ud800B", "pair": "\\ud83d\\ude00"}'))

    assert text == "name: A\ufffdB\npair: 😀"
    text.encode("utf-8")


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


def test_a_lab_value_stands_with_its_patient_name_unit_and_date():
    raw = json.dumps(bundle()).replace("7.1}", "7.10}").replace("7.1,", "7.10,")

    lab = only(unfold_output(raw)).split("\n\n")[1].splitlines()

    assert lab[:3] == ["patient: Ines Okafor", "HbA1c: 7.10 %", "effectiveDateTime: 2024-05-01"]
    assert "code: 4548-4" in lab


@pytest.mark.parametrize("form", ["itself", "by its kind", "named nowhere"])
def test_a_bundles_entry_is_read_however_a_tool_abridges_it(form: str):
    """An entry that is passed over would be no evidence, and of nothing but such a bundle looks empty."""
    condition = {"code": "Breast abscess", "verificationStatus": "refuted"}
    entry = {
        "itself": {"resourceType": "Condition", **condition},
        "by its kind": {"Condition": condition},
        "named nowhere": {"resource": condition},
    }[form]
    for entries in ([entry], [*bundle()["entry"], entry]):
        raw = json.dumps({"resourceType": "Bundle", "entry": entries})

        text = only(unfold_output(raw))

        (line,) = (line for line in text.splitlines() if "Breast abscess" in line)
        (status,) = (line for line in text.splitlines() if "refuted" in line)
        assert "verificationStatus" in status
        assert "Condition" in line or form == "named nowhere"


def test_a_person_can_be_led_from_a_lab_value_to_its_bytes():
    raw = json.dumps(bundle())
    (part,) = unfold_output(raw).parts
    start = part.text.index("7.1 %")

    value = Span(start=start, end=start + 3)
    (found,) = (place for place in part.raw_map if place.text.overlaps(value))

    assert raw.encode()[found.raw_start : found.raw_end] == b"7.1"


@pytest.mark.skipif(not FHIR.is_dir(), reason="the shared FHIR bundles are not here")
def test_real_bundles_lose_no_number_and_map_exactly():
    for path in random.Random(7).sample(sorted(FHIR.glob("*.json.gz")), 3):
        raw = gzip.decompress(path.read_bytes()).decode()
        (part,) = unfold_output(raw).parts

        data = raw.encode()
        for place in part.raw_map:
            parsed = json.loads(data[place.raw_start : place.raw_end])
            shown = place.text.cut(part.text)
            assert shown == (parsed if isinstance(parsed, str) else shown)
        for entry in json.loads(raw)["entry"]:
            quantity = entry["resource"].get("valueQuantity")
            if quantity:
                assert f"{quantity['value']} {quantity['unit']}" in part.text


def test_a_document_that_is_no_json_is_refused_by_the_json_reader():
    for text in ("{'a': 1}", '{"a" 1}', '{"a": 1,}', '{"a": tru}', '["\\q and more text"]'):
        with pytest.raises(NotStructured):
            parse_json(text)


def test_objects_one_behind_the_other_are_records_of_one_list():
    text = only(unfold_output('{"drug": "metformin", "id": 1}\n{"drug": "aspirin", "id": 2}\n'))

    assert text == "drug: metformin\nid: 1\n\ndrug: aspirin\nid: 2"


def test_a_label_before_a_document_is_kept_and_the_document_unfolded():
    text = only(unfold_output('Response: {"drug": "metformin", "dose": "500 mg", "n": 2}'))

    assert text == "Response: \n\ndrug: metformin\ndose: 500 mg\nn: 2"


def test_the_status_of_a_condition_stands_beside_it():
    raw = json.dumps(
        {
            "resourceType": "Condition",
            "id": "c1",
            "encounter": {"reference": "Encounter/9"},
            "clinicalStatus": {"coding": [{"code": "active"}]},
            "code": {"text": "Asthma"},
            "onsetDateTime": "2019-03-01",
        }
    )

    assert only(unfold_output(raw)).splitlines()[:3] == [
        "Condition: Asthma",
        "onsetDateTime: 2019-03-01",
        "clinicalStatus: active",
    ]


def test_a_block_that_cites_one_source_is_that_source_and_others_are_named():
    raw = json.dumps(
        {
            "content": [
                {"type": "text", "text": "Mortality fell.", "citationRefs": ["t1"]},
                {"type": "text", "text": "Both agree.", "citationRefs": ["t1", "g2"]},
                {"type": "text", "text": "Nothing is known.", "citationRefs": ["x9"]},
            ],
            "citations": [
                {"id": "t1", "title": "A trial", "uri": "https://trial.example/1"},
                {"id": "g2", "title": "A guideline", "uri": "https://guide.example/2"},
            ],
        }
    )

    main, trial = unfold_output(raw).parts

    assert (trial.uri, trial.title, trial.text.strip()) == (
        "https://trial.example/1",
        "A trial",
        "Mortality fell.",
    )
    assert main.uri is None
    assert "Both agree." in main.text
    assert "cited source: A guideline · https://guide.example/2" in main.text
    assert "trial.example" not in main.text


@pytest.mark.parametrize("refs", [[0], [{"id": "t1"}], ["https://trial.example/1"]])
def test_blocks_name_their_source_by_place_by_object_or_by_address(refs):
    identity = {} if refs == [0] else {"id": "t1"}
    cited = {**identity, "title": "A trial", "url": "https://trial.example/1"}
    block = {"type": "text", "text": "Mortality fell.", "citationRefs": refs}
    raw = json.dumps({"content": [block], "citations": [cited], "isError": False})

    (part,) = unfold_output(raw).parts

    assert (part.uri, part.text.strip()) == ("https://trial.example/1", "Mortality fell.")
