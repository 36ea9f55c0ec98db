"""Verify answers and traces; models are loaded once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.errors import BadRecord, InputError
from core.records import Origin, Trace
from core.site_config import site_config
from provenanceguard.results import Verification, verification_of

if TYPE_CHECKING:
    from core.config import Config
    from core.pipeline import Models
    from core.provenance.records import ProvenanceReport

ToolOutput = Mapping[str, Any]


class Verifier:
    """Models that are loaded once, for many answers.

    ``nli`` names the NLI model: None or "bundled", "accurate" (after ``make accurate``), or a folder.
    ``calibrator`` is a folder that ``recalibrate`` wrote; None is the one that ships with the model.
    Raises ComponentUnavailable when weights are missing, ConfigError when the calibrator was fitted
    on another model. Not safe for several threads at a time.
    """

    def __init__(
        self, *, nli: str | Path | None = None, calibrator: str | Path | None = None
    ) -> None:
        from core.workflows.models import load_models

        self._config: Config = site_config()
        self._models: Models = load_models(
            self._config,
            nli_model=None if nli == "bundled" else nli,
            calibrator=None if calibrator is None else Path(calibrator),
        )

    def verify(
        self, answer: str, tool_outputs: Sequence[ToolOutput], question: str | None = None
    ) -> Verification:
        """The verdict on one answer; see `verify`."""
        return next(self.verify_traces([trace_of(answer, tool_outputs, question)]))

    def verify_traces(self, traces: Iterable[Trace]) -> Iterator[Verification]:
        """The verdicts on traces, in their order, a few of them at a time in memory."""
        from core.pipeline import verify_all

        return map(verification_of, verify_all(traces, self._models, self._config))

    def analyse(
        self,
        output_text: str,
        facts: Sequence[str | ToolOutput],
        task_intent: str | None = None,
    ) -> ProvenanceReport:
        """The provenance of a text by the facts that it was given; see `analyse`."""
        from core.pipeline import verify_all
        from core.workflows.provenance_report import analysed

        trace = _trace_of_facts(output_text, facts, task_intent)
        return analysed(next(iter(verify_all([trace], self._models, self._config))))


def verify(
    answer: str,
    tool_outputs: Sequence[ToolOutput],
    question: str | None = None,
    *,
    nli: str | Path | None = None,
) -> Verification:
    """The verdict on one answer of an agent.

    ``tool_outputs`` holds every raw output behind the answer, one mapping each: ``tool_name``, ``text``
    (the output as it came: a string or JSON), and where known ``source_id``, ``call_id``, ``arguments``
    and ``status`` (ok, error, empty, truncated, not_captured). Raises InputError with the path of what
    cannot be used.

    >>> verify("The dose is 5 mg.", [{"tool_name": "load_chart", "text": 5}])
    Traceback (most recent call last):
    core.errors.BadRecord: tool_outputs[0].text: expected text, found 5
    """
    trace = trace_of(
        answer, tool_outputs, question
    )  # what is wrong is told before models are loaded
    return next(_kept(nli).verify_traces([trace]))


def analyse(
    output_text: str,
    facts: Sequence[str | ToolOutput],
    task_intent: str | None = None,
    *,
    nli: str | Path | None = None,
) -> ProvenanceReport:
    """The provenance of a text: each claim's risk, distortions and chain, and what was left out.

    ``facts`` are sentences, or outputs as in `verify`. The report tells, among others,
    ``grounding_percentage``, ``hallucination_count``, ``critical_fabrications``, ``omitted_facts``
    and ``claims``.

    >>> report = analyse("The dose is 5 mg.", ["The dose is 10 mg."], "What is the dose?")
    >>> [made_up.text for made_up in report.critical_fabrications]
    ['5 mg']
    """
    _trace_of_facts(output_text, facts, task_intent)
    return _kept(nli).analyse(output_text, facts, task_intent)


def verify_traces(
    traces: Iterable[Trace], *, nli: str | Path | None = None
) -> Iterator[Verification]:
    """The verdicts on captured traces (see `load`), in their order."""
    return _kept(nli).verify_traces(traces)


def load(
    *paths: str | Path, format: str = "auto", skipped: list[InputError] | None = None
) -> list[Trace]:
    """The traces of captured files or folders of them (.json, .jsonl, .gz), in any format that is read.

    The first record that cannot be read is raised as InputError with file, line and JSON path; with a
    list as ``skipped`` these errors are added to it and the good records are returned.

    >>> load("nowhere.jsonl")
    Traceback (most recent call last):
    core.errors.UnreadableFile: nowhere.jsonl: no such file
    """
    from core.capture.reading import read_traces
    from core.errors import UnreadableFile

    files = [Path(path) for path in paths]
    for file in files:
        if not file.exists():
            raise UnreadableFile("no such file", file=str(file))
    traces = []
    for item in read_traces(files, format, site_config()):
        if isinstance(item, Trace):
            traces.append(item)
        elif skipped is None:
            raise item
        else:
            skipped.append(item)
    return traces


def trace_of(answer: str, tool_outputs: Sequence[ToolOutput], question: str | None) -> Trace:
    """The trace of an answer with its outputs; raises InputError with the path of a wrong value."""
    from core.capture.files import cleaned
    from core.capture.native_record import native_of, read_trace

    given = {"question": question or "", "answer": answer, "tool_outputs": list(tool_outputs)}
    record: dict[str, object] = {name: cleaned(value)[0] for name, value in given.items()}
    try:
        return read_trace(native_of(record), Origin(format="python"))
    except BadRecord as error:
        raise BadRecord(error.message, path=error.path) from None


def _trace_of_facts(text: str, facts: Sequence[str | ToolOutput], task_intent: str | None) -> Trace:
    outputs = [
        {"tool_name": "facts", "source_id": f"fact {n}", "text": fact}
        if isinstance(fact, str)
        else fact
        for n, fact in enumerate(facts, 1)
    ]
    return trace_of(text, outputs, task_intent)


@cache
def _kept(nli: str | Path | None) -> Verifier:
    return Verifier(nli=nli)
