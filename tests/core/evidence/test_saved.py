"""Whether a file was made as an answer says: by a call that wrote to just that path and did not fail."""

from __future__ import annotations

import json

import pytest
from tables import cases

from core.evidence.written import SAVED, check_saved, read_writings
from core.records import Source, SourceStatus
from tests.builders import a_claim, a_source


def wrote(path: str, text: str, answered: str = "Wrote 12 lines.", **more: object) -> Source:
    """A call that wrote a text to a path."""
    arguments = json.dumps({"path": path, "content": text})
    return a_source(answered, tool_name="write_file", arguments=arguments, **more)


REPORT = wrote(
    "/root/out/tide_report.md", "# Tide report for Hollin\n" + "The tide was high.\n" * 30
)


def is_shown(claim: str, *sources: Source) -> bool:
    """Whether a call is found to have made the file as the claim says."""
    found = check_saved(a_claim(claim), read_writings(sources))
    return found is not None and found.check == SAVED


@cases
def test_a_call_that_wrote_to_the_path_shows_that_the_file_was_made(claim: str) -> None:
    assert is_shown(claim, REPORT)


@cases
def test_another_path_a_denial_or_anything_more_is_not_shown(claim: str) -> None:
    assert not is_shown(claim, REPORT)


@pytest.mark.parametrize(
    "source",
    [
        wrote("/root/out/tide_report.md", "x " * 300, "Error: permission denied"),
        wrote("/root/out/tide_report.md", "x " * 300, status=SourceStatus.ERROR),
        a_source(
            "# Tide report", tool_name="read_file", arguments='{"path": "/root/out/tide_report.md"}'
        ),
        a_source("The report is at /root/out/tide_report.md", tool_name="search"),
    ],
)
def test_a_call_that_failed_or_only_read_made_nothing(source: Source) -> None:
    assert not is_shown("The agent created /root/out/tide_report.md.", source)
