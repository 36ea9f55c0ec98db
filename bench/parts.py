"""What single parts take: the NLI model beside sentence-transformers on the same weights, the checks on a
record of 100 KB, a warm verifier, and one move of the threshold slider.

The comparison does what a verifier without our NLI model would do: `CrossEncoder.predict` for the
probabilities and a pass with `output_attentions=True` for the alignment of III.4, both in fp32 as they
come. Ours gives both from one pass, tokenisation included.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import time
from collections.abc import Callable, Iterator

import numpy as np
import torch
from sentence_transformers import CrossEncoder
from transformers import AutoModelForSequenceClassification, AutoTokenizer

from bench.report import Cell, Report
from bench.synthetic import a_trace
from core.calibration.threshold import GRID
from core.config import Config
from core.evaluation.frozen import readable
from core.evaluation.threshold_view import bands_of, costs_at, flips_between, view_claims
from core.evidence.checks import check_claim, read_trace_facts
from core.evidence.values import protected_values
from core.models.loading import BUNDLED_NLI_MODEL, load_nli_model
from core.records import Claim, Source, Span, Trace
from core.workflows.batching import BatchingVerifier
from core.workflows.models import load_models
from training.texts import synthetic_pairs

BATCH = 32


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of this suite."""
    parser.add_argument("--pairs", type=int, default=48)
    parser.add_argument("--tokens", type=int, nargs="+", default=(128, 256, 512))
    parser.add_argument("--answers", type=int, default=20)
    parser.add_argument("--claims", type=int, default=100_000, help="under the slider")


def run(options: argparse.Namespace) -> Report:
    """A table a part."""
    report = Report()
    columns = ("tokens", "ours, claims/s", "theirs", "their probabilities alone")
    report.table("NLI model", columns, (nli(n, options.pairs) for n in options.tokens))
    columns = ("what", "median", "slowest")
    report.table("milliseconds of the processor", columns, [*checks(), *slider(options.claims)])
    return report.table("milliseconds by the clock", columns, warm(options.answers))


def _times(task: Callable[[], object], times: int, clock: Callable[[], float]) -> list[float]:
    """Seconds of each of some runs after one more."""
    task()
    seconds = []
    for _ in range(times):
        began = clock()
        task()
        seconds.append(clock() - began)
    return seconds


def _line(what: str, seconds: list[float]) -> tuple[Cell, ...]:
    return what, round(1000 * statistics.median(seconds), 2), round(1000 * max(seconds), 2)


def nli(tokens: int, count: int) -> tuple[Cell, ...]:
    """Claims a second at one length of pairs; each premise is longer, so that it is cut to the budget."""
    made = synthetic_pairs("clinical", count * 30)
    pairs = [
        ("\n".join(pair.premise for pair in made[i : i + 30]), made[i].hypothesis)
        for i in range(0, count * 30, 30)
    ]
    folder = str(BUNDLED_NLI_MODEL)
    nli = load_nli_model(max_tokens=tokens)
    fp32 = {"dtype": torch.float32}
    cross = CrossEncoder(folder, max_length=tokens, device="cpu", model_kwargs=fp32)
    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    model = AutoModelForSequenceClassification.from_pretrained(
        folder, local_files_only=True, attn_implementation="eager", **fp32
    ).eval()

    def attentions() -> None:
        for start in range(0, count, BATCH):
            premises, claims = zip(*pairs[start : start + BATCH], strict=True)
            encoded = tokenizer(
                list(premises), list(claims), truncation="only_first", max_length=tokens,
                padding=True, return_tensors="pt",
            )  # fmt: skip
            with torch.inference_mode():
                torch.stack(model(**encoded, output_attentions=True).attentions).mean((0, 2))

    ours, predict, aligned = (
        statistics.median(_times(task, 3, time.perf_counter))
        for task in (
            lambda: nli.read(pairs),
            lambda: cross.predict(pairs, batch_size=BATCH, show_progress_bar=False),
            attentions,
        )
    )
    return tokens, count / ours, count / (predict + aligned), count / predict


def checks() -> Iterator[tuple[Cell, ...]]:
    """Yield the time of the checks on a JSON record of 100 KB, read once and for each of 60 claims."""
    draw = random.Random(1)
    tests = (
        "sodium",
        "potassium",
        "creatinine",
        "glucose",
        "urea",
        "albumin",
        "calcium",
        "ferritin",
    )

    def result() -> dict[str, object]:
        day = f"{draw.randint(2010, 2024)}-{draw.randint(1, 12):02d}-{draw.randint(1, 28):02d}"
        value = draw.randint(1, 400) / 10
        return {"test": draw.choice(tests), "date": day, "value": value, "unit": "mmol/L"}

    rows = [result() for _ in range(1300)]
    text = json.dumps({"patient": "Ada Lind", "results": rows})
    source = readable(Source(source_id="chart", tool_name="get_patient_chart", text=text))
    trace = Trace(trace_id="bench", question="", answer="", sources=(source,))
    yield _line(
        "a record of 100 KB read", _times(lambda: read_trace_facts(trace), 1, time.process_time)
    )
    facts = read_trace_facts(trace)
    seconds = []
    for row in (result() for _ in range(60)):
        said = f"Ada Lind's {row['test']} was {row['value']} mmol/L on {row['date']}."
        claim = Claim(
            claim_id="bench::c01",
            text=said,
            span=Span(start=0, end=len(said)),
            said=said,
            protected_values=protected_values(said),
        )
        began = time.process_time()
        check_claim(claim, facts)
        seconds.append(time.process_time() - began)
    yield _line("a claim checked on it", seconds)


def slider(count: int) -> Iterator[tuple[Cell, ...]]:
    """Yield the time of what the thresholds page does, on made-up claims, four a trace."""
    rng = np.random.default_rng(1)
    bad = rng.uniform(size=count) < 0.4
    probability = np.round(np.clip(rng.normal(0.7 - 0.4 * bad, 0.2), 0.0, 1.0), 4)
    columns = (probability, bad, rng.uniform(size=count) < 0.1, np.arange(count) // 4)
    view = view_claims(*columns)

    def move() -> None:
        costs_at(view, GRID)
        flips_between(view, 0.5, float(rng.choice(GRID)))

    for what, task, times in (
        (f"{count:,} claims sorted", lambda: view_claims(*columns), 3),
        ("bands of all thresholds, 1,000 resamples", lambda: bands_of(view, GRID), 1),
        ("one move of the threshold", move, 200),
    ):
        yield _line(what, _times(task, times, time.process_time))


def warm(count: int) -> Iterator[tuple[Cell, ...]]:
    """Yield the time of an answer of eight claims and two sources, new and seen before."""
    with BatchingVerifier(load_models(Config()), Config()) as verifier:
        for what in ("a new answer of eight claims", "the same seen before"):
            numbers = iter(range(count + 1))
            yield _line(what, _times(
                lambda numbers=numbers: verifier.submit(a_trace(next(numbers))).result(),
                count, time.perf_counter,
            ))  # fmt: skip
