"""Every key of the workbench is one that works, and means one thing on a page."""

from __future__ import annotations

from collections import Counter

import pytest
from streamlit.elements.lib.shortcut_utils import normalize_shortcut

from core.review.records import SUPPORT_LABELS, Cause
from pages.widgets.shortcuts import (
    CAUSE_KEYS,
    SHORTCUTS,
    SOURCE_KEYS,
    SUPPORT_KEYS,
    Page,
    Reader,
    help_sheet,
    keys_of_views,
    on_page,
)

LISTENED_TO_BY_STREAMLIT = {"c", "r"}


@pytest.mark.parametrize("page", list(Page))
def test_no_two_actions_of_a_page_share_a_key(page: Page) -> None:
    keys = Counter(each.key.casefold() for each in on_page(page))

    assert [key for key, times in keys.items() if times > 1] == []


def test_no_key_belongs_to_the_browser_or_to_streamlit() -> None:
    keys = [each.key for each in SHORTCUTS]

    assert not {key.casefold() for key in keys} & LISTENED_TO_BY_STREAMLIT
    # With a modifier a key is the browser's or a screen reader's: Ctrl+Z is the reader's own undo.
    assert [key for key in keys if "+" in key] == []
    assert [key for key in keys if key.casefold() in ("tab", "enter", "space", "f5", "f11")] == []


@pytest.mark.parametrize("each", [each for each in SHORTCUTS if each.reader is Reader.BUTTON])
def test_every_key_of_a_button_is_one_that_streamlit_takes(each: object) -> None:
    key = each.key  # type: ignore[attr-defined]

    assert normalize_shortcut(key) == key.casefold()


def test_every_verdict_costs_one_key_and_so_does_every_cause() -> None:
    assert set(SUPPORT_KEYS) == set(SUPPORT_LABELS)
    assert set(CAUSE_KEYS) == set(Cause)
    assert {len(key) for key in [*SUPPORT_KEYS.values(), *CAUSE_KEYS.values(), *SOURCE_KEYS]} == {1}


def test_the_help_sheet_lists_every_key_that_a_trace_can_use() -> None:
    sheet = dict(help_sheet(Page.REVIEW, sources=2))

    assert {"1", "2", "3", "4", "Q", "W", "0", "Y", "X", "K", "U", "P", "G", "H"} <= set(sheet)
    assert "E" not in sheet
    assert all(words for words in sheet.values())


def test_the_view_listens_to_no_key_of_a_button() -> None:
    for page in Page:
        buttons = {each.key for each in on_page(page) if each.reader is Reader.BUTTON}
        assert not buttons & set(keys_of_views(page).values())
