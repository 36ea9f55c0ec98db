"""Any classifier with NLI labels reads; what cannot is refused with what is missing."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
import transformers
from nli_models import an_nli_model, reordered

from core.errors import ComponentUnavailable
from core.models.forest import ACCURATE_FOLDER, load_forest
from core.models.loading import (
    ACCURATE_NLI_MODEL,
    BUNDLED_NLI_MODEL,
    PAPER_NLI_MODEL,
    is_here,
    load_nli_model,
)
from core.models.mpnet import mpnet_is_installed
from core.models.nli_model import relation_order
from core.models.weight_files import check_manifest, folder_digest
from core.ports import taught_close
from core.records import NliScore, Relation
from core.workflows.models import fitted_for, shipped_with

PAIRS = [
    ("The bridge was closed in 1987 after a storm.", "The bridge was closed in 1987."),
    ("The trial ran for 12 weeks with food diaries.", "The trial ran for 14 weeks."),
    ("Anna plays the cello.", "The harvest was poor."),
]
NLI = ("entailment", "neutral", "contradiction")


def read(folder: Path) -> list[NliScore]:
    return [one for one in load_nli_model(folder).read(PAIRS) if one is not None]


@pytest.mark.parametrize("order", [(2, 0, 1), (1, 2, 0), (0, 2, 1)])
def test_the_order_of_a_heads_labels_changes_no_reading(
    tmp_path: Path, order: tuple[int, ...]
) -> None:
    first = an_nli_model(tmp_path / "first", NLI)
    other = reordered(first, tmp_path / "other", order)

    assert read(first) == read(other)
    assert len({one.probabilities for one in read(first)}) == len(PAIRS)


@pytest.mark.parametrize(
    "labels", [("entailment", "not_entailment"), ("NOT-ENTAILMENT", "Entailment")]
)
def test_a_binary_head_tells_entailment_from_the_rest_and_never_finds_a_contradiction(
    tmp_path: Path, labels: tuple[str, ...]
) -> None:
    folder = an_nli_model(tmp_path / "binary", labels)
    at = [name.lower() for name in labels].index("entailment")
    kind = transformers.AutoModelForSequenceClassification
    model = kind.from_pretrained(folder, local_files_only=True).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True)

    for found, pair in zip(read(folder), PAIRS, strict=True):
        with torch.no_grad():
            expected = model(**tokenizer(*pair, return_tensors="pt")).logits.softmax(-1)[0, at]
        assert found.probabilities.contradiction == 0.0
        assert found.probabilities.entailment == pytest.approx(float(expected), abs=1e-3)
        assert found.probabilities.entailment + found.probabilities.neutral == pytest.approx(1.0)


def test_a_head_of_one_output_gives_the_logit_of_entailment(tmp_path: Path) -> None:
    folder = an_nli_model(tmp_path / "one", ["entailment"])
    kind = transformers.AutoModelForSequenceClassification
    model = kind.from_pretrained(folder, local_files_only=True).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True)

    for found, pair in zip(read(folder), PAIRS, strict=True):
        with torch.no_grad():
            expected = model(**tokenizer(*pair, return_tensors="pt")).logits.sigmoid()[0, 0]
        assert found.probabilities.entailment == pytest.approx(float(expected), abs=1e-3)


@pytest.mark.parametrize(
    ("kind", "more"),
    [
        ("Roberta", {}),
        ("MPNet", {}),
        ("DebertaV2", {"relative_attention": True, "pos_att_type": ["p2c", "c2p"]}),
        ("DistilBert", {}),
    ],
)
def test_other_architectures_read_with_probabilities_and_alignment(
    tmp_path: Path, kind: str, more: dict[str, object]
) -> None:
    folder = an_nli_model(tmp_path / kind, NLI, kind=kind, **more)
    nli = load_nli_model(folder)

    long = [(" ".join(premise for premise, _ in PAIRS) * 40, claim) for _, claim in PAIRS]
    for found in [*nli.read(PAIRS), *nli.read(long)]:
        assert found is not None
        said = found.probabilities
        assert said.entailment + said.neutral + said.contradiction == pytest.approx(1.0, abs=2e-4)
        assert any(token.score > 0.0 for token in found.tokens)
    assert nli.read(PAIRS)[1:2] == nli.read(PAIRS[1:2])


def test_an_encoder_without_a_head_is_refused_and_not_drawn_at_random(tmp_path: Path) -> None:
    folder = an_nli_model(tmp_path / "whole", NLI)
    model = transformers.AutoModel.from_pretrained(folder, local_files_only=True)
    model.config.id2label = dict(enumerate(NLI))
    model.save_pretrained(folder)

    with pytest.raises(ComponentUnavailable, match=r"not a classifier of pairs.*classifier"):
        load_nli_model(folder)


@pytest.mark.parametrize(
    "labels",
    [("LABEL_0", "LABEL_1", "LABEL_2"), ("positive", "negative"), ("entailment", "neutral"), ()],
)
def test_labels_that_are_no_nli_labels_are_refused_by_name(labels: tuple[str, ...]) -> None:
    with pytest.raises(ComponentUnavailable, match="id2label"):
        relation_order(dict(enumerate(labels)), "a folder")


def test_labels_are_taken_in_order_of_their_numbers() -> None:
    assert relation_order({"1": "neutral", "2": "entailment", "0": "contradiction"}, "x") == (
        Relation.CONTRADICTION,
        Relation.NEUTRAL,
        Relation.ENTAILMENT,
    )


def test_what_is_not_on_this_machine_is_named_with_the_way_to_have_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert is_here("bundled")
    assert not is_here("someone/a-model-that-is-not-here")
    if not is_here("paper"):
        with pytest.raises(ComponentUnavailable) as missing:
            load_nli_model("paper")
        assert PAPER_NLI_MODEL in str(missing.value)
        assert "model.safetensors" in str(missing.value)


@pytest.mark.stress
def test_the_accurate_reader_reads_or_says_what_it_stands_on() -> None:
    assert is_here("accurate") == mpnet_is_installed()
    if not mpnet_is_installed():
        with pytest.raises(ComponentUnavailable, match="make accurate"):
            load_nli_model("accurate")
        return
    nli = load_nli_model("accurate")
    alone = [nli.read([pair])[0] for pair in PAIRS]
    together = nli.read(PAIRS[::-1])[::-1]

    assert alone == together
    assert taught_close(nli)
    relations = [one.probabilities.relation for one in together if one is not None]
    assert relations == [Relation.ENTAILMENT, Relation.CONTRADICTION, Relation.NEUTRAL]


def test_a_reader_that_ships_comes_with_a_calibrator_that_was_fitted_on_it() -> None:
    digests = {
        "bundled": folder_digest(BUNDLED_NLI_MODEL),
        "accurate": folder_digest(ACCURATE_NLI_MODEL),
    }
    for choice, digest in digests.items():
        place = shipped_with(choice)
        assert place is not None
        assert fitted_for(load_forest(place), f"{choice}@sha256:{digest[:12]}")
    check_manifest(ACCURATE_NLI_MODEL)
    assert shipped_with("paper") is None
    assert not fitted_for(load_forest(ACCURATE_FOLDER), "bundled@sha256:0123456789ab")
