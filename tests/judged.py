"""Replies of a judge kept for a trace whose claims are asked about, all in one request."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from lexical import lexical_models

from core.config import Config
from core.judge.replay import reply_line
from core.judge.request import new_requests
from core.pipeline import verify
from core.records import Judged, Trace
from core.records.judge import JudgeText

MODEL = "a-model"


def supported(quote: str) -> dict[str, object]:
    return {"verdict": "supported", "evidence": [{"source_id": "S1", "quote": quote}]}


def contradicted(quote: str, said: str, stands: str) -> dict[str, object]:
    conflict = {"claim_part": said, "source_part": stands}
    return {**supported(quote), "verdict": "contradicted", "conflict": conflict}


def keep_replies(path: Path, trace: Trace, readings: Mapping[int, Mapping[str, object]]) -> Path:
    """A file with the reply to `--judge-for all`: a reading by the number of its claim, from 1."""
    verdicts = verify(trace, lexical_models(), Config()).claims
    asked = [one.claim for one in verdicts if isinstance(one.outcome, Judged)]
    (request,) = new_requests(trace, asked, b"another run")
    text = json.dumps({"claims": [{"n": n, **reading} for n, reading in readings.items()]})
    path.write_text(reply_line(request, JudgeText(text=text, model=MODEL, reply_tokens=7)))
    return path
