"""The packaged families, and what a person is told who edits them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tables import cases

from core.attribution.families import load_families, read_families
from core.errors import ConfigError
from core.records import Source

FORMAT_IDS = {
    "patient_record", "literature", "formulary", "guideline", "registry", "lab", "imaging", "web",
    "database", "other",
}  # fmt: skip


def test_the_packaged_families_are_those_of_the_verdict_format() -> None:
    found = {item.family_id for item in load_families().items}

    assert found == FORMAT_IDS | {"crm", "billing", "tickets"}


TOOLS = {
    "patient_record": "load_patient_history get_record fhir_search getPatientChart get_ehr "
    "ehr_lookup get_patient_history",
    "literature": "search_pubmed_key_words get_pubmed_article_metadata search_literature pmc_search",
    "formulary": "rxnorm_lookup formulary_search openfda-drug-label",
    "registry": "search_clinicaltrials get_trial_record",
    "lab": "get_labs get_patient_labs",
    "guideline": "search_guidelines",
    "imaging": "radiology_report",
    "web": "search_web fetch",
    "database": "execute_sql read_csv csv_reader",
    "other": "generate_chart get_reservation_details gehrig_stats accsvc",
    "crm": "crm_lookup get_customer",
    "billing": "get_invoice list_payments",
    "tickets": "search_tickets jira_search",
}


@pytest.mark.parametrize("family", TOOLS)
def test_a_tool_name_says_its_family(family: str) -> None:
    for tool in TOOLS[family].split():
        assert load_families().family_of_tool(tool) == family, tool


def test_a_tool_says_more_than_its_server() -> None:
    families = load_families()

    chart = Source(source_id="a", tool_name="search", text="x", server="fhir-server")
    papers = Source(source_id="b", tool_name="search_pubmed", text="x", server="fhir-server")

    assert families.family_of(chart) == "patient_record"
    assert families.family_of(papers) == "literature"


def test_compatibility_holds_both_ways_and_with_itself() -> None:
    families = load_families()

    for one in FORMAT_IDS:
        assert families.compatible(one, one)
        for other in FORMAT_IDS:
            assert families.compatible(one, other) == families.compatible(other, one)
    assert families.compatible("lab", "patient_record")
    assert not families.compatible("literature", "guideline")


@cases
def test_a_mistake_in_the_file_is_named_with_its_key(text: str, message: str) -> None:
    with pytest.raises(ConfigError) as raised:
        read_families(text, "x.toml")

    assert str(raised.value).startswith(message)


def test_a_family_of_ones_own_is_read_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "families.toml"
    path.write_text('[crm]\naliases = ["the CRM"]\ntools = ["crm"]\n[other]\n', encoding="utf-8")

    families = load_families(path)

    assert families.family_of_tool("crm_lookup") == "crm"
    assert [m.family_id for m in families.mentions("According to the crm, yes")] == ["crm"]


def test_a_missing_file_is_a_configuration_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        load_families(tmp_path / "none.toml")


def test_a_lexicon_stands_in_every_pattern_that_names_it() -> None:
    text = (
        "[lexicons]\nbodies = ['ABC', 'DEF']\n[guideline]\nnouns = ['\\b(?:{{bodies}}) rules']\n"
        "[other]\n"
    )

    found = read_families(text, "f.toml")

    assert [m.family_id for m in found.mentions("The DEF rules say so.")] == ["guideline"]
    assert not list(found.mentions("The GHI rules say so."))


def test_a_pattern_that_names_no_lexicon_is_an_error_with_its_place() -> None:
    with pytest.raises(ConfigError, match=r"f\.toml: other\.nouns\[0\].*'bodies'"):
        read_families("[other]\nnouns = ['{{bodies}}']\n", "f.toml")


SITE = """
[our_registry]
label = "Our registry"
aliases = ["our registry"]
tools = ["ourreg"]

[other]
"""


def test_a_site_names_its_families_once_and_a_changed_file_is_read_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "site.toml"
    path.write_text(SITE, encoding="utf-8")
    packaged = load_families().digest
    monkeypatch.setenv("PROVENANCEGUARD_FAMILIES", str(path))
    first = load_families()
    assert first.family_of_tool("ourreg_query") == "our_registry"
    assert first.digest != packaged

    path.write_text(SITE.replace("ourreg", "second"), encoding="utf-8")
    os.utime(path, ns=(1, 1))
    assert load_families().family_of_tool("second_query") == "our_registry"

    path.unlink()
    with pytest.raises(ConfigError, match="site.toml"):
        load_families()
