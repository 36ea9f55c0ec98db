"""One worker process of ``verify --workers``: models loaded once, a line of traces in, of verdicts out.

in   {"reader": …, "calibrator": …, "repair": …, "cache": …,
      "by_kind": …, "whole_answers": …, "threads": …}                once
out  {"versions": …}  or  {"error": …, "kind": …}                   once
in   {"traces": [trace document, …]}                                until the parent hangs up
out  {"verdicts": [verdict document, …]}
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

from core.codec import trace_from_document, verdict_document, versions_document
from core.config import Config
from core.errors import ProvenanceGuardError
from core.workflows.kept_readings import kept_in
from core.workflows.models import deciding, load_models
from core.workflows.repair import repairing_judge
from core.workflows.verify import Judge, judge_window, pipeline_judge


def main() -> None:
    """Answer the parent until it hangs up."""
    # Whatever a library prints must not stand between two lines of ours.
    with os.fdopen(os.dup(1), "wb") as out:
        os.dup2(2, 1)
        lines = sys.stdin.buffer
        try:
            judge = judge_of(json.loads(lines.readline()))
        except ProvenanceGuardError as error:
            _say(out, {"error": str(error), "kind": type(error).__name__})
            return
        _say(out, {"versions": versions_document(judge.versions)})
        for line in lines:
            traces = [trace_from_document(document) for document in json.loads(line)["traces"]]
            verdicts = [verdict_document(one) for one in judge_window(judge, traces)]
            _say(out, {"verdicts": verdicts})


def judge_of(told: Mapping[str, Any]) -> Judge:
    """The judge with the models that were asked for; raises what is missing."""
    import torch

    torch.set_num_threads(told["threads"])
    config = Config()
    calibrator = Path(told["calibrator"]) if told["calibrator"] else None
    models = load_models(config, pair_reader=told["reader"], calibrator=calibrator)
    models = deciding(models, by_kind=told["by_kind"], whole_answers=told["whole_answers"])
    if told["cache"]:
        models = kept_in(Path(told["cache"]), models)
    judged_by = repairing_judge() if told["repair"] else pipeline_judge
    return judged_by(models, config)


def _say(out: BinaryIO, document: Mapping[str, object]) -> None:
    out.write(json.dumps(document, ensure_ascii=False, allow_nan=False).encode("utf-8") + b"\n")
    out.flush()


if __name__ == "__main__":
    main()
