"""A printing settles to the same bytes wherever the browser began to count its nodes."""

from __future__ import annotations

import re

import pytest

from core.workflows.printing import find_browser, printed, settled

TABLE = (
    "<!doctype html><html lang='en'><title>Two heads</title><table><tr><th>Drug</th><th>Dose</th>"
    "</tr><tr><td>ramipril</td><td>5 mg</td></tr></table></html>"
)


def renumbered(pdf: bytes, by: int) -> bytes:
    return re.sub(rb"\(node(\d{8})\)", lambda n: b"(node%08d)" % (int(n[1]) + by), pdf)


def test_a_printing_is_the_same_wherever_nodes_are_counted_from() -> None:
    if find_browser() is None:
        pytest.skip("no browser that can print on this machine: apt-get install chromium")

    once = printed(TABLE)

    moved = renumbered(once, 1)
    assert len(set(re.findall(rb"\(node\d{8}\)", once))) >= 2
    assert moved != once and settled(moved) == once
    assert settled(once) == once and len(settled(moved)) == len(moved)
