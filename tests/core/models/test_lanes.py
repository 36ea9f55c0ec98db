"""NLI scores, vectors and verdicts are the same bytes however many threads torch has."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
import torch
from real_models import real_models

from core.capture.reading import read_traces
from core.codec import verdict_document
from core.config import Config
from core.models import lanes as lanes_of
from core.models.embedder import BertEmbedder, kept_vectors
from core.models.loading import load_nli_model
from core.models.nli_model import BertNliModel, RawScore, has_bf16
from core.models.pieces import encode_pairs
from core.pipeline import verify_all
from core.records import Trace
from training.texts import synthetic_pairs

TRACES = Path(__file__).parents[3] / "sample_data" / "traces.jsonl"


@contextmanager
def threads(count: int) -> Iterator[None]:
    """Inside the block, torch has so many threads, as in a process that was started with them."""
    before = torch.get_num_threads()
    kept = lanes_of._made[:]
    torch.set_num_threads(count)
    lanes_of._made.clear()
    try:
        yield
    finally:
        for made in lanes_of._made:
            made.close()
        lanes_of._made[:] = kept
        torch.set_num_threads(before)


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_readings_are_equal_to_the_last_bit_on_one_two_and_three_threads(precision: str) -> None:
    if precision == "bf16" and not has_bf16():
        pytest.skip("the processor does not multiply bf16")
    nli = load_nli_model(precision=precision)
    assert isinstance(nli, BertNliModel)
    pairs = [(pair.premise, pair.hypothesis) for pair in synthetic_pairs("clinical", 7)]
    encoded = [pair for pair in encode_pairs(pairs, nli.tokenizer, 512) if pair is not None]
    found: list[list[RawScore]] = []
    for count in (1, 2, 3):
        with threads(count):
            assert lanes_of.lanes().count == count
            found.append(nli.read_raw(encoded))

    for other in found[1:]:
        for one, same in zip(found[0], other, strict=True):
            assert np.array_equal(one.logits, same.logits)
            assert np.array_equal(one.piece_scores, same.piece_scores)
            assert np.array_equal(one.premise_scores, same.premise_scores)


def test_a_lane_uses_one_thread_and_leaves_the_number_of_others_as_it_was() -> None:
    with threads(3):
        inside = lanes_of.lanes().work(lambda _: torch.get_num_threads(), range(6))

        assert inside == [1] * 6
        assert torch.get_num_threads() == 3


def test_what_goes_wrong_in_a_lane_is_raised_where_it_was_asked_for() -> None:
    def broken(number: int) -> int:
        return 1 // number

    with pytest.raises(ZeroDivisionError):
        lanes_of.lanes().work(broken, [1, 0, 2])


def verdict_bytes(traces: list[Trace]) -> list[bytes]:
    """Each verdict as it is written, without the seconds; nothing is taken from memory."""
    models = real_models()
    assert isinstance(models.embedder, BertEmbedder)
    models.embedder._kept = kept_vectors()
    return [
        json.dumps({**verdict_document(one), "latency_seconds": None}).encode()
        for one in verify_all(traces, models, Config())
    ]


def sample(wanted: Callable[[Trace], bool], most: int) -> list[Trace]:
    """The first traces of the samples that are wanted."""
    read = (one for one in read_traces([TRACES]) if isinstance(one, Trace) and wanted(one))
    return list(islice(read, most))


@pytest.mark.stress
def test_the_verdicts_of_all_samples_are_the_same_bytes_on_one_to_four_threads() -> None:
    traces = sample(lambda trace: True, 1_000)
    found = []
    for count in (1, 2, 4):
        with threads(count):
            found.append(verdict_bytes(traces))

    assert sum(line.count(b'"claim_id"') for line in found[0]) > 400
    assert found[0] == found[1] == found[2]
