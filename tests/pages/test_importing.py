"""File names from a browser."""

from __future__ import annotations

from pathlib import PurePosixPath, PureWindowsPath

from hypothesis import given
from hypothesis import strategies as st
from tables import cases

from pages.widgets.file_names import safe_name


@given(st.text(max_size=300))
def test_a_file_name_can_never_leave_its_folder(given_name: str) -> None:
    name = safe_name(given_name)

    assert name and not name.startswith(".") and len(name) <= 120
    assert PurePosixPath(name).name == name and PureWindowsPath(name).name == name
    assert "\0" not in name


@cases
def test_an_ordinary_file_name_stays_readable(given_name: str, name: str) -> None:
    assert safe_name(given_name) == name
