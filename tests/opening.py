"""The workbench opened without a browser, and what its page shows."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from streamlit.components.v2 import manifest_scanner
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.testing.v1 import AppTest

# Streamlit would look through every installed package at each opening, which takes longer than the page.
manifest_scanner.scan_component_manifests = cache(manifest_scanner.scan_component_manifests)
APP = Path(__file__).resolve().parents[1] / "app.py"


def opened(page: str = "home", person: int | None = None, /, **query: str) -> AppTest:
    """The workbench at a page, in the hands of that person, with the parameters of an address."""
    test = AppTest.from_file(str(APP), default_timeout=60)
    if person is not None:
        test.query_params["as"] = str(person)
    for name, value in query.items():
        test.query_params[name] = value
    test.run()
    if page != "home":
        test.switch_page(f"pages/{page}.py").run()
    assert not test.exception
    return test


def views(test: AppTest, name: str) -> list[Any]:
    """What the views of ours of that name were given."""
    found = [each.proto for each in test.get("bidi_component")]
    return [json.loads(proto.json) for proto in found if proto.component_name == name]


def cards(test: AppTest) -> list[dict[str, Any]]:
    """All cards on the page."""
    return [card for view in views(test, "provenanceguard_cards") for card in view["cards"]]


def titles(test: AppTest) -> list[str]:
    """The titles of all cards on the page."""
    return [card["title"] for card in cards(test)]


def drawn(test: AppTest, name: str) -> Any:
    """The button of that name, whichever drawing of a claim it belongs to."""
    found = [each for each in test.button if each.key == name or each.key.startswith(f"{name}-")]
    assert len(found) == 1, f"{len(found)} buttons are called {name}"
    return found[0]


def browser_sent(test: AppTest, *states: WidgetState) -> AppTest:
    """The page drawn again with what a browser sends of things that ``AppTest`` cannot touch."""
    sent = test._tree.get_widget_states()
    sent.widgets.extend(states)
    return test._run(sent)


def ticked(test: AppTest, name: str, **said: object) -> AppTest:
    """The page drawn again after the one view of ours of that name said this."""
    (proto,) = (
        each.proto for each in test.get("bidi_component") if each.proto.component_name == name
    )
    return browser_sent(test, WidgetState(id=proto.id, json_value=json.dumps(said)))


def row_chosen(test: AppTest, table: Any) -> AppTest:
    """The page drawn again after the first row of a table was chosen."""
    chosen = {"selection": {"rows": [0], "columns": [], "cells": []}}
    return browser_sent(test, WidgetState(id=table.proto.id, string_value=json.dumps(chosen)))
