"""Presses act in the order in which they were pressed, however they arrive."""

from __future__ import annotations

import weakref
from collections.abc import Iterator

import pytest
import streamlit as st
from hypothesis import given
from hypothesis import strategies as some

from pages.widgets.presses import Button, carry_out_presses, pressed, view_key
from pages.widgets.shortcuts import Page

KEYS = "1QYK0"


class Claim:
    """A claim on screen, and what was done to it."""

    def __init__(self) -> None:
        self.done: list[str] = []


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    st.session_state.clear()
    yield
    st.session_state.clear()


def press(button: Button, claim: Claim, what: str) -> None:
    pressed(button, weakref.ref(claim), lambda held: held.done.append(what))


def numbered(names: list[str], first: int = 1) -> None:
    """What the browser says was pressed."""
    st.session_state[view_key(Page.REVIEW)] = {
        "order": [{"at": first + n, "name": name} for n, name in enumerate(names)]
    }


@given(typed=some.lists(some.sampled_from(KEYS), min_size=1, max_size=9), arrival=some.randoms())
def test_presses_act_as_typed_in_whatever_order_they_arrive(
    typed: list[str], arrival: object
) -> None:
    st.session_state.clear()
    claim = Claim()
    arrived = list(dict.fromkeys(typed))
    arrival.shuffle(arrived)  # type: ignore[attr-defined]
    for key in arrived:
        press(Button(widget=f"w{key}", key=key), claim, key)
    numbered(typed)

    carry_out_presses()
    carry_out_presses()

    assert claim.done == typed


def test_a_click_counts_beside_keys_and_what_was_carried_out_counts_once() -> None:
    claim = Claim()
    numbered(["K"])
    press(Button(widget="keep-n1", key="K"), claim, "keep")
    carry_out_presses()
    press(Button(widget="v-n2", key="1"), claim, "one")
    press(Button(widget="own-n2", key="Q"), claim, "own")
    numbered(["K", "own-n2", "1"])

    carry_out_presses()

    assert claim.done == ["keep", "own", "one"]


def test_of_two_drawings_the_older_ones_button_acts_first() -> None:
    claim = Claim()
    old, new = (Button(widget=f"keep-n{n}", key="K", drawn=n) for n in (1.0, 2.0))
    press(new, claim, "new")
    press(old, claim, "old")
    numbered(["K", "K"])

    carry_out_presses()

    assert claim.done == ["old", "new"]


@pytest.mark.parametrize(
    "order", [None, "K", [1, "K"], [{"at": "1", "name": "K"}], [{"name": "K"}], {"at": 1}]
)
def test_a_press_that_no_number_is_known_for_still_counts(order: object) -> None:
    claim = Claim()
    st.session_state[view_key(Page.REVIEW)] = {"order": order}
    press(Button(widget="keep-n1", key="K"), claim, "keep")

    carry_out_presses()

    assert claim.done == ["keep"]


def test_a_press_on_a_claim_that_is_given_up_acts_on_nothing() -> None:
    claim = Claim()
    press(Button(widget="keep-n1", key="K"), claim, "keep")
    numbered(["K"])
    del claim

    carry_out_presses()

    assert "Ignored" in str(st.session_state["review_told"])
