"""Every key of the workbench is one that works, and means one thing on a page."""

from __future__ import annotations

from collections import Counter

import pytest
from streamlit.elements.lib.shortcut_utils import normalize_shortcut

from core.review.records import SUPPORT_LABELS, Cause
from pages.screens.settings.own_keys import lay_out_keys
from pages.widgets.rebinding import Refusal, bound, swapped, usable
from pages.widgets.shortcuts import (
    CAUSE_KEYS,
    SHIPPED,
    SHORTCUTS,
    SOURCE_KEYS,
    SUPPORT_KEYS,
    Keymap,
    Page,
    Reader,
)

LISTENED_TO_BY_STREAMLIT = {"c", "r"}


@pytest.mark.parametrize("page", list(Page))
def test_no_two_actions_of_a_page_share_a_key(page: Page) -> None:
    keys = Counter(each.key.casefold() for each in SHIPPED.on_page(page))

    assert [key for key, times in keys.items() if times > 1] == []


def test_no_key_belongs_to_the_browser_or_to_streamlit() -> None:
    keys = [each.key for each in SHORTCUTS]

    assert not {key.casefold() for key in keys} & LISTENED_TO_BY_STREAMLIT
    # With a modifier a key is the browser's or a screen reader's: Ctrl+Z is the annotator's own undo.
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
    sheet = dict(SHIPPED.help_sheet(Page.REVIEW, sources=2))

    assert {"1", "2", "3", "4", "Q", "W", "0", "Y", "X", "K", "U", "P", "G", "H"} <= set(sheet)
    assert "E" not in sheet
    assert all(words for words in sheet.values())


def test_the_view_listens_to_no_key_of_a_button() -> None:
    for page in Page:
        buttons = {each.key for each in SHIPPED.on_page(page) if each.reader is Reader.BUTTON}
        assert not buttons & set(SHIPPED.of_views(page).values())


# ---------------------------------------------------------------- keys of one's own


def refused(name: str, key: str, keys: Keymap = SHIPPED) -> Refusal:
    """Why that key cannot be had."""
    found = bound(keys, name, key)
    assert isinstance(found, Refusal), f"{key} was given for {name}"
    return found


@pytest.mark.parametrize(
    ("key", "why"),
    [
        ("C", "frame"),
        ("R", "frame"),
        ("F5", "browser"),
        ("Backspace", "browser"),
        ("Ctrl+K", "screen readers"),
        ("Tab", "no mouse"),
        (" ", "no mouse"),
        ("ArrowDown", "scrolls"),
        ("Escape", "leaves a field"),
        ("É", "other keyboards"),
        ("?", "other keyboards"),
        ("MediaPlayPause", "cannot be read"),
        ("", "cannot be read"),
    ],
)
def test_a_key_that_others_listen_to_is_refused_with_the_reason(key: str, why: str) -> None:
    assert why in refused("keep", key).reason
    assert refused("keep", key).swap is None


def test_a_key_that_the_page_uses_is_refused_and_names_what_could_swap() -> None:
    found = refused("undo", "K")

    assert "Keep my answer" in found.reason
    assert "Review" in found.reason
    exchanged = swapped(SHIPPED, "undo", str(found.swap))
    assert isinstance(exchanged, Keymap)
    assert (exchanged.of("undo"), exchanged.of("keep")) == ("K", "U")


def test_a_swap_that_would_clash_on_another_page_is_refused() -> None:
    # 1 would go to K, which saves a decision where disagreements are decided.
    assert isinstance(swapped(SHIPPED, "keep", "supported"), Refusal)


def test_keys_of_the_view_are_refused_while_a_claim_is_given_back() -> None:
    assert "The guideline" in refused("Outside my field", "G").reason


def test_what_an_older_version_allowed_and_this_one_uses_is_as_shipped() -> None:
    keys = usable({"keep": "F8", "undo": "G", "nothing": "Z", "notes": "Ctrl+N", "close": "F8"})

    assert keys.chosen == {"keep": "F8"}
    for page in Page:
        each = [one.key for one in keys.on_page(page)]
        assert len(set(each)) == len(each)


@pytest.mark.parametrize("key", ["F2", "9", "F8"])
def test_every_key_that_may_be_chosen_is_one_that_streamlit_takes(key: str) -> None:
    found = bound(SHIPPED, "undo", key)

    assert isinstance(found, Keymap)
    assert normalize_shortcut(found.of("undo")) == key.casefold()


def test_the_list_of_keys_has_each_once_and_says_what_was_shipped() -> None:
    laid = lay_out_keys(Keymap(chosen={"keep": "M"}))
    groups = laid["groups"]
    assert isinstance(groups, list)
    rows = [row for group in groups for row in group["rows"]]

    assert sorted(row["name"] for row in rows) == sorted({each.name for each in SHORTCUTS})
    (moved,) = [row for row in rows if row["changed"]]
    assert (moved["name"], moved["shown"], moved["shipped"]) == ("keep", "M", "K")
