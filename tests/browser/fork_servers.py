"""Forks workbenches off one process that has imported what each of them would import.

A workbench spends three seconds of a processor on imports before its first page, and the tests start
dozens. What is forked is the real program with the environment that the test gives it.

A line in is JSON: ``{"arguments": [...], "environment": {...}, "cold": false}`` starts one (``cold``: as a
program of its own, with nothing imported), ``{"stop": PID}`` ends one, ``{"ended": PID}`` asks. A line out
is the PID, or the exit status, or null for one that runs.
"""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
import signal
import sys
from contextlib import suppress
from typing import Any

import plotly.graph_objects  # noqa: F401
from streamlit import logger
from streamlit.web import bootstrap  # noqa: F401
from streamlit.web.cli import main as streamlit

BESIDE_PAGES = ("storage", "core")  # pages are scripts, and their widgets belong to a run of them


def main() -> None:
    """Serve what standard input asks for, until it ends; then end whatever runs."""
    logger.set_log_level("ERROR")  # nobody is served here: Streamlit would say so at every import
    for package in BESIDE_PAGES:
        for module in pkgutil.walk_packages(
            importlib.import_module(package).__path__, f"{package}."
        ):
            importlib.import_module(module.name)
    ended: dict[int, int] = {}
    running: set[int] = set()
    for line in sys.stdin:
        asked = json.loads(line)
        if "arguments" in asked:
            pid = os.fork()
            if not pid:
                _become(asked)
            running.add(pid)
            answer: int | None = pid
        else:
            pid = asked.get("stop") or asked["ended"]
            if "stop" in asked and pid in running:
                os.kill(pid, signal.SIGTERM)
            answer = _ended(pid, running, ended, wait="stop" in asked)
        print(json.dumps(answer), flush=True)
    for pid in running:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)


def _ended(pid: int, running: set[int], ended: dict[int, int], *, wait: bool) -> int | None:
    if pid in running:
        found, status = os.waitpid(pid, 0 if wait else os.WNOHANG)
        if found:
            running.remove(pid)
            ended[pid] = os.waitstatus_to_exitcode(status)
    return ended.get(pid)


def _become(asked: dict[str, Any]) -> None:
    """Be a workbench from here on."""
    status = 1
    try:
        os.environ.clear()
        os.environ.update(asked["environment"])
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):
            os.dup2(nothing, stream)
        if asked["cold"]:
            os.execv(sys.executable, [sys.executable, "-m", "streamlit", *asked["arguments"]])
        streamlit(asked["arguments"], standalone_mode=False)
        status = 0
    finally:
        os._exit(status)


if __name__ == "__main__":
    main()
