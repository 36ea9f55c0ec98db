"""Training the NLI model: made data, the loss, and a few real steps that go on from a
checkpoint."""

from __future__ import annotations

import gzip
import json
import math
import random
from collections import Counter
from pathlib import Path

import pytest
import torch
from transformers import AutoModelForSequenceClassification

from core.models.loading import BUNDLED_NLI_MODEL, load_nli_model
from training.batches import LABELS, UNLABELLED, window_start
from training.data import (
    Pair,
    deny,
    load_sources,
    mismatched,
    one_pass,
    restyle_record,
    swap_number,
)
from training.nli_model import TrainingOptions, pair_loss, train_nli_model
from training.nli_start import starting_model, starting_point, with_line_mark
from training.texts import synthetic_pairs


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A tiny data folder of the shape that training reads; its claims give their label away."""
    folder = tmp_path / "nli"
    (folder / "train").mkdir(parents=True)
    said = {"entailment": "It is so.", "neutral": "Perhaps it is.", "contradiction": "No, never."}
    for name, seed in (("mnli_train20k", 1), ("joci", 2)):
        with gzip.open(folder / "train" / f"{name}.jsonl.gz", "wt", encoding="utf-8") as out:
            for pair in synthetic_pairs("clinical", 90, seed):
                row = {
                    "premise": pair.premise[:60],
                    "hypothesis": said[pair.label],
                    "label": pair.label,
                }
                out.write(json.dumps(row) + "\n")
    return folder


def options(data: Path, out: Path, **more: object) -> TrainingOptions:
    given: dict[str, object] = {
        "data": data,
        "out": out,
        "steps": 6,
        "tokens_per_batch": 256,
        "clinical_pairs": 3,
        "literature_pairs": 3,
        "meaning_pairs": 3,
        "learning_rate": 5e-4,
        "quick_pairs": 0,
        "threads": 2,
    }
    return TrainingOptions(**(given | more))  # type: ignore[arg-type]


@pytest.mark.stress
def test_training_lowers_the_loss_and_writes_a_folder_that_loads(
    data: Path, tmp_path: Path
) -> None:
    first = train_nli_model(options(data, tmp_path / "first", steps=1))
    longer = train_nli_model(options(data, tmp_path / "longer", steps=45))

    assert first.finished and longer.finished
    assert longer.steps == 45
    assert longer.pairs_seen > 40
    assert longer.last_loss < first.last_loss - 0.2
    loaded = AutoModelForSequenceClassification.from_pretrained(tmp_path / "longer" / "model")
    assert [loaded.config.id2label[i] for i in range(3)] == list(LABELS)
    nli_score = load_nli_model(tmp_path / "longer" / "model").read([("It rained.", "It was wet.")])
    assert nli_score[0] is not None


@pytest.mark.parametrize("dropout", [0.0, 0.1])
@pytest.mark.stress
def test_an_interrupted_training_goes_on_to_the_identical_state(
    data: Path, tmp_path: Path, dropout: float
) -> None:
    whole = train_nli_model(options(data, tmp_path / "whole", dropout=dropout))

    stopped = train_nli_model(
        options(data, tmp_path / "halves", stop_after_steps=3, dropout=dropout)
    )
    resumed = train_nli_model(options(data, tmp_path / "halves", dropout=dropout))

    assert not stopped.finished and stopped.steps == 3
    assert resumed.steps == whole.steps == 6
    one, other = (
        torch.load(tmp_path / name / "checkpoint.pt", weights_only=True)
        for name in ("whole", "halves")
    )
    for kind in ("model", "average"):
        assert all(torch.equal(one[kind][name], other[kind][name]) for name in one[kind])
    assert one["loss"] == other["loss"]
    weights = [
        (tmp_path / name / "model" / "model.safetensors").read_bytes()
        for name in ("whole", "halves")
    ]
    assert weights[0] == weights[1]


def test_a_checkpoint_of_other_options_is_refused(data: Path, tmp_path: Path) -> None:
    train_nli_model(options(data, tmp_path / "run", stop_after_steps=1))

    with pytest.raises(ValueError, match="other options"):
        train_nli_model(options(data, tmp_path / "run", learning_rate=1e-5))
    with pytest.raises(ValueError, match="either minutes or steps"):
        train_nli_model(options(data, tmp_path / "run", minutes=1.0))


def test_a_start_in_another_label_order_is_permuted_by_name(tmp_path: Path) -> None:
    model = AutoModelForSequenceClassification.from_pretrained(
        BUNDLED_NLI_MODEL, dtype=torch.float32
    )
    rows = [2, 0, 1]
    expected = model.classifier.weight.detach().clone()
    with torch.no_grad():
        model.classifier.weight.copy_(expected[rows])
    held = [LABELS[i] for i in rows]
    model.config.id2label = dict(enumerate(held))
    model.config.label2id = {name: i for i, name in enumerate(held)}
    model.save_pretrained(tmp_path)

    assert torch.equal(starting_model(str(tmp_path)).classifier.weight.detach(), expected)


def test_not_entailment_asks_for_neutral_and_contradiction_together() -> None:
    logits = torch.log(torch.tensor([[0.2, 0.5, 0.3]]))

    loss = pair_loss(logits, torch.tensor([-1]), smoothing=0.0)

    assert math.isclose(float(loss), -math.log(0.8), rel_tol=1e-5)
    assert math.isclose(
        float(pair_loss(logits, torch.tensor([1]), smoothing=0.0)), -math.log(0.5), rel_tol=1e-5
    )


def test_what_a_larger_model_says_weighs_beside_the_label_and_alone_where_there_is_none() -> None:
    logits = torch.tensor([[2.0, 0.5, -1.0]] * 3, dtype=torch.float64)
    said = torch.tensor([[0.2, 0.3, 0.5], [0.0, 0.0, 0.0], [0.2, 0.3, 0.5]], dtype=torch.float64)
    targets = torch.tensor([0, 0, UNLABELLED])
    surprise = -torch.log_softmax(logits[0], -1)

    def loss(row: int, share: float) -> float:
        return float(pair_loss(logits[[row]], targets[[row]], 0.0, said[[row]], share))

    told = float(said[0] @ surprise)
    assert loss(0, 0.6) == pytest.approx(0.4 * float(surprise[0]) + 0.6 * told)
    assert loss(1, 0.6) == pytest.approx(float(surprise[0]))
    assert loss(2, 0.6) == pytest.approx(told)
    assert loss(0, 0.0) == pytest.approx(float(pair_loss(logits[[0]], targets[[0]], 0.0)))


def test_synthetic_pairs_are_balanced_and_of_use() -> None:
    pairs = synthetic_pairs("clinical", 6_000)

    assert set(Counter(pair.label for pair in pairs).values()) == {2_000}
    assert all(pair.premise.strip() and pair.hypothesis.strip() for pair in pairs)
    assert not any("@" in pair.hypothesis or "{" in pair.hypothesis for pair in pairs)
    assert synthetic_pairs("clinical", 100, 1) == pairs[100:200]
    assert synthetic_pairs("clinical", 6_000, 4) == pairs  # the kept ones are four passes


def test_a_swapped_number_is_one_that_the_premise_states() -> None:
    rng = random.Random(0)
    premise = "The trial enrolled 214 adults in 2019."

    swapped = swap_number(premise, "The trial enrolled 214 adults.", rng)

    assert swapped is not None and "214" not in swapped
    assert swap_number(premise, "The trial enrolled more than 200 adults.", rng) is None
    assert swap_number(premise, "The trial enrolled 90 adults.", rng) is None


def test_only_a_plain_statement_is_denied() -> None:
    assert deny("The dose was 5 mg.") == "The dose was not 5 mg."
    assert deny("The trial has been stopped.") == "The trial has not been stopped."
    assert deny("All doses were small.") is None
    assert deny("There is a trial.") is None


def test_another_layout_keeps_the_record() -> None:
    premise = "title: Asthma\nStatus: active\nOnset: 2019"
    for seed in range(40):
        restyled = restyle_record(premise, "The status is active.", random.Random(seed))
        assert "active" in restyled and "2019" in restyled and "Asthma" in restyled


def test_mismatched_evidence_never_holds_the_claim() -> None:
    rows = [
        Pair(
            premise=f"Place {i} has mayor {i}.",
            hypothesis=f"Mayor {i} governs place {i}.",
            label="entailment",
            source="x",
        )
        for i in range(30)
    ]

    made = mismatched(rows, 20, random.Random(1))

    assert made
    assert all(pair.label == "neutral" for pair in made)
    assert all(pair.premise.split()[1] != pair.hypothesis.split()[1] for pair in made)


def test_a_pass_is_the_same_for_the_same_seed_and_another_for_the_next(data: Path) -> None:
    rows = load_sources(data)

    def a_pass(index: int) -> list[Pair]:
        return one_pass(rows, 1, index, clinical=10, literature=10)

    assert a_pass(0) == a_pass(0)
    assert a_pass(0) != a_pass(1)
    assert {"clinical", "literature"} <= {pair.source for pair in a_pass(0)}


def test_a_window_holds_what_the_claim_shares_with_the_premise() -> None:
    premise = [*range(100, 200), 7, 8, 9, *range(200, 300)]

    start = window_start(premise, [7, 8, 9], room=20)

    assert start <= 100 and start + 20 >= 103


def test_a_marked_line_break_is_read_and_every_word_keeps_its_place(tmp_path: Path) -> None:
    model, plain = starting_point(str(BUNDLED_NLI_MODEL), torch.float32)
    marked = with_line_mark(plain, "|")
    premises = ("dose: 5 mg\nweight: 80 kg", "dose: 5 mg|weight: 80 kg", "dose: 5 mg weight: 80 kg")
    model.save_pretrained(tmp_path)
    marked.save_pretrained(tmp_path)

    (score, *_) = load_nli_model(tmp_path, precision="fp32").read([(premises[0], "It is 5 mg.")])

    ids = [marked(premise)["input_ids"] for premise in premises]
    assert ids[0] == ids[1] != ids[2]
    assert score is not None
    places = [token.span.cut(premises[0]) for token in score.premise_tokens]
    assert places == ["dose", ":", "5", "mg", "\n", "weight", ":", "80", "kg"]
    with pytest.raises(ValueError, match="one character"):
        with_line_mark(plain, "; ")
