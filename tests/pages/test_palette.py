"""The colours of the theme can be read on every background that they stand on."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

THEME = tomllib.loads((Path(__file__).parents[2] / ".streamlit" / "config.toml").read_text())[
    "theme"
]
LOOKS = ["green", "violet", "orange", "yellow", "gray", "blue"]
# As given for the visual language: supported, conflation, contradicted, no source, not judged.
GIVEN = {
    "light": ["#00745A", "#8E3A7D", "#B23C00", "#8A6100", "#5B6470"],
    "dark": ["#4CC7A4", "#E29BD0", "#FF9A66", "#F0BE4D", "#A9B3BF"],
}


def luminance(colour: str) -> float:
    """Relative luminance (WCAG 2)."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """Contrast ratio (WCAG 2)."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_colour_reaches_the_contrast_of_body_text(scheme: str) -> None:
    theme = THEME[scheme]
    for background in (theme["backgroundColor"], theme["secondaryBackgroundColor"]):
        for name in ["textColor", "linkColor", *(f"{look}TextColor" for look in LOOKS)]:
            assert contrast(theme[name], background) >= 4.5, (name, background)
        assert contrast(theme["primaryColor"], background) >= 3, background  # an outline, no text
    assert contrast(theme["primaryColor"], "#FFFFFF") >= 4.5  # what buttons write on it


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_verdict_colours_are_those_of_the_visual_language(scheme: str) -> None:
    assert [THEME[scheme][f"{look}TextColor"] for look in LOOKS[:5]] == GIVEN[scheme]
