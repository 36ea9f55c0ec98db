"""What a call shows by itself: its arguments, how it ended, and what its output can be evidence of."""

from __future__ import annotations

import json
from dataclasses import replace

from builders import a_source

from core.evidence.calls import call_lines, is_catalogue, is_echo
from core.records import SourceStatus

CATALOGUE = """found:
- name: send_letter
  description: Sends a letter.
  inputSchema:
    to: (string) Where it goes
- name: read_letter
  description: Reads one.
  inputSchema:
    id: (integer) Which one
"""


def test_arguments_are_told_by_path_with_how_the_call_ended() -> None:
    arguments = json.dumps(
        {"tool": "write_file", "params": {"path": "/srv/a.md", "tags": ["x", "y"]}}
    )
    source = replace(a_source("done"), tool_name="write_file", arguments=arguments)

    lines = call_lines(source).splitlines()

    assert lines[:2] == ["Called write file.", "The call succeeded."]
    assert "params.path: /srv/a.md" in lines and "params.tags: x, y" in lines
    assert "The call failed." in call_lines(replace(source, status=SourceStatus.ERROR))


def test_arguments_that_are_no_json_are_kept_as_they_are() -> None:
    source = replace(a_source("done"), arguments="ls -la /srv")

    assert "arguments: ls -la /srv" in call_lines(source)


def test_a_list_of_tools_is_told_by_what_it_holds() -> None:
    people = "- name: Ada\n  description: A pilot.\n- name: Ben\n  description: A cook.\n"

    assert is_catalogue(a_source(CATALOGUE))
    assert not is_catalogue(a_source(people))


def test_an_output_that_gives_the_arguments_back_is_an_echo() -> None:
    arguments = json.dumps({"thought": "The ferry leaves at nine from the old harbour"})
    echo = replace(a_source("The ferry leaves at nine from the old harbour"), arguments=arguments)
    finding = replace(a_source("Departures: 08:10, 10:40, 13:00 from quay 3"), arguments=arguments)

    assert is_echo(echo)
    assert not is_echo(finding)
    assert not is_echo(replace(echo, arguments=None))
