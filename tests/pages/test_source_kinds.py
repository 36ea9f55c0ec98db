"""Which tools count as which kind of source, as the page of traces shows it."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import a_source, a_trace
from databases import a_store
from opening import opened
from streamlit.testing.v1 import AppTest

from core.attribution.families import ENVIRONMENT_VARIABLE


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    """Traces of two tools, one of which nothing is known of."""
    file = str(tmp_path / "workbench.db")
    monkeypatch.setenv("PROVENANCEGUARD_DB", file)
    monkeypatch.delenv(ENVIRONMENT_VARIABLE, raising=False)
    known, strange = (
        a_source("Yes.", source_id=name, tool_name=name)
        for name in ("load_chart", "zeta_frobnicate")
    )
    a_store(file).put_traces([a_trace("Yes.", known, strange)])
    return opened("traces")


def test_the_tool_without_a_kind_stands_first(page: AppTest) -> None:
    page.button(key="kinds").click().run()
    assert not page.exception
    said = [one.value for one in page.text]
    assert any(each.startswith("1 of 2 tools without a kind") for each in said)
    table = page.dataframe[0].value
    assert list(table["Tool"]) == ["zeta_frobnicate", "load_chart"]
    assert list(table["Kind"]) == ["another tool", "patient's chart"]


def test_a_file_of_the_site_that_cannot_be_read_is_said(
    page: AppTest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(ENVIRONMENT_VARIABLE, str(tmp_path / "gone.toml"))
    page.button(key="kinds").click().run()
    assert not page.exception
    assert any("gone.toml: cannot be read" in one.value for one in page.error)
