"""The NLI model and embedder, on the real bundled weights."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer

from core.errors import ComponentUnavailable, DamagedArtifact
from core.models.bert import groups, padded_length
from core.models.embedder import BertEmbedder
from core.models.loading import (
    BUNDLED_NLI_MODEL,
    load_embedder,
    load_nli_model,
    packaged_minilm,
)
from core.models.nli_model import (
    BertNliModel,
    Calibration,
    TransformersNliModel,
    choose_precision,
)
from core.models.pieces import encode_pairs, merge_pieces
from core.models.weight_files import write_manifest
from core.ports import Embedder, NliModel
from core.records import Span
from training.texts import synthetic_pairs

CHART = (
    "Patient.name: Ana Ruiz\nCondition.code.text: Asthma\nCondition.clinicalStatus: active\n"
    "Condition.onsetDateTime: 2019-04-02"
)
CLAIM = "Ana Ruiz (bench-6) has active asthma, first recorded on 2 April 2019."


@pytest.fixture(scope="module")
def nli() -> BertNliModel:
    loaded = load_nli_model(precision="fp32")
    assert isinstance(loaded, BertNliModel)
    return loaded


@pytest.fixture(scope="module")
def embedder() -> BertEmbedder:
    return load_embedder()


def some_pairs(count: int) -> list[tuple[str, str]]:
    """Pairs of very different lengths, up to the whole budget."""
    rng = random.Random(3)
    made = synthetic_pairs("clinical", count * 3)
    pairs = []
    for i in range(count):
        premise = "\n".join(pair.premise for pair in made[i : i + rng.choice((1, 1, 1, 2, 3, 5))])
        pairs.append((premise, made[i].hypothesis))
    return [*pairs, (CHART * 40, CLAIM), (CHART, CLAIM)]


def plain_alignment(pair: tuple[str, str]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Logits, and III.4 written out as its sums, from every layer's and head's attention: the
    claim's side and the premise's."""
    tokenizer = AutoTokenizer.from_pretrained(BUNDLED_NLI_MODEL, local_files_only=True)
    model = AutoModelForSequenceClassification.from_pretrained(
        BUNDLED_NLI_MODEL, local_files_only=True, dtype=torch.float32, attn_implementation="eager"
    ).eval()
    encoded = tokenizer(*pair, truncation="only_first", max_length=512, return_tensors="pt")
    with torch.inference_mode():
        output = model(**encoded, output_attentions=True)
    sides = encoded.encodings[0].sequence_ids
    claim = [i for i, side in enumerate(sides) if side == 1]
    premise = [j for j, side in enumerate(sides) if side == 0]
    means = np.zeros((len(claim), len(premise)))
    for row, i in enumerate(claim):
        for column, j in enumerate(premise):
            total = 0.0
            for layer in output.attentions:
                for head in range(layer.shape[1]):
                    total += float(layer[0, head, i, j])
            means[row, column] = total / (len(output.attentions) * output.attentions[0].shape[1])
    return output.logits[0].numpy(), means.max(axis=1), means.max(axis=0)


def test_the_nli_models_fill_their_protocols(nli: BertNliModel, embedder: BertEmbedder) -> None:
    assert isinstance(nli, NliModel)
    assert isinstance(embedder, Embedder)
    assert nli.max_tokens == 512
    assert embedder.max_tokens == 256


@pytest.mark.parametrize("pair", [(CHART, CLAIM), some_pairs(2)[0], ("It rained.", "It was dry.")])
def test_a_plain_implementation_of_the_alignment_equation_agrees(
    nli: BertNliModel, pair: tuple[str, str]
) -> None:
    logits, scores, premise_scores = plain_alignment(pair)

    encoded = encode_pairs([pair], nli.tokenizer, nli.max_tokens)[0]
    assert encoded is not None
    raw = nli.read_raw([encoded])[0]

    assert np.abs(raw.logits - logits).max() < 5e-5  # fp32 sums of 12 layers in another order
    assert np.abs(raw.piece_scores - scores).max() < 1e-5
    assert np.abs(raw.premise_scores - premise_scores).max() < 1e-5


@pytest.mark.stress
def test_the_same_pair_reads_the_same_alone_in_any_batch_and_in_any_order(
    nli: BertNliModel,
) -> None:
    pairs = some_pairs(60)
    together = nli.read(pairs)
    order = list(range(len(pairs)))
    random.Random(1).shuffle(order)

    shuffled = nli.read([pairs[i] for i in order])
    alone = [nli.read([pair])[0] for pair in pairs[::6]]

    assert [together[i] for i in order] == shuffled
    assert together[::6] == alone


@pytest.mark.stress
def test_results_are_equal_to_the_last_bit_before_rounding_in_bf16_too() -> None:
    nli = load_nli_model(precision="bf16")
    assert isinstance(nli, BertNliModel)
    encoded = [
        pair for pair in encode_pairs(some_pairs(24), nli.tokenizer, 512) if pair is not None
    ]

    together = nli.read_raw(encoded)
    alone = [nli.read_raw([pair])[0] for pair in encoded[::4]]

    for one, other in zip(alone, together[::4], strict=True):
        assert np.array_equal(one.logits, other.logits)
        assert np.array_equal(one.piece_scores, other.piece_scores)


def test_a_reader_on_a_machine_without_batch_invariance_reads_one_pair_at_a_time() -> None:
    assert list(groups([32, 64, 32], tokens=0)) == [(64, [1]), (32, [0]), (32, [2])]


def test_the_padded_length_depends_on_the_pair_alone_and_never_exceeds_the_positions() -> None:
    lengths = [padded_length(pieces, 512) for pieces in range(1, 513)]

    assert all(length >= pieces for pieces, length in enumerate(lengths, start=1))
    assert max(lengths) == 512
    assert lengths == sorted(lengths)


def test_a_long_premise_is_cut_and_the_claim_is_kept_whole(nli: BertNliModel) -> None:
    pairs = [(CHART * 60, CLAIM), (CHART, CLAIM)]

    long, short = encode_pairs(pairs, nli.tokenizer, nli.max_tokens)
    nli_scores = nli.read(pairs)

    assert long is not None and short is not None
    assert len(long.pieces.ids) == 512
    assert long.truncated and not short.truncated
    assert long.claim_spans == short.claim_spans
    assert nli_scores[0] is not None and nli_scores[0].premise_truncated
    assert nli_scores[1] is not None and not nli_scores[1].premise_truncated
    assert nli_scores[0].tokens[-1].span.end == len(CLAIM)


def test_a_claim_that_exceeds_the_budget_alone_has_no_nli_score(nli: BertNliModel) -> None:
    nli_scores = nli.read([(CHART, "word " * 600), (CHART, CLAIM)])

    assert nli_scores[0] is None
    assert nli_scores[1] is not None
    assert nli.read([]) == []


def test_an_empty_premise_grounds_nothing(nli: BertNliModel) -> None:
    read = nli.read([("", CLAIM)])[0]

    assert read is not None
    assert {token.score for token in read.tokens} == {0.0}


def test_the_pieces_of_a_word_become_one_token_with_the_highest_score() -> None:
    claim = "HbA1c is 7.2%."
    cuts = [(0, 2), (2, 5), (6, 8), (9, 10), (10, 11), (11, 12), (12, 13), (13, 14)]
    spans = [Span(start=start, end=end) for start, end in cuts]

    tokens = merge_pieces(claim, spans, np.array([0.1, 0.3, 0.2, 0.5, 0.1, 0.4, 0.6, 0.7]))

    assert [(token.span.cut(claim), token.score) for token in tokens] == [
        ("HbA1c", 0.3),
        ("is", 0.2),
        ("7.2", 0.5),
        ("%", 0.6),
        (".", 0.7),
    ]


def test_spans_are_code_points_of_the_claim_also_beyond_the_basic_plane(
    nli: BertNliModel,
) -> None:
    claim = "Señora Núñez 👩‍⚕️ takes 5 mg."

    read = nli.read([("Núñez takes 5 mg daily.", claim)])[0]

    assert read is not None
    cut = [token.span.cut(claim) for token in read.tokens]
    assert {"Señora", "Núñez", "takes", "5", "mg"} <= set(cut)


def test_the_shipped_reader_sees_where_a_line_ends_and_words_keep_their_places(
    nli: BertNliModel,
) -> None:
    claim = "The aspirin order is stopped."
    lines = "Señora Núñez 👩‍⚕️\nwarfarin: active\naspirin: stopped"

    broken, joined = nli.read([(lines, claim), (lines.replace("\n", " "), claim)])

    assert broken is not None and joined is not None
    assert broken.probabilities != joined.probabilities
    words = [token.span.cut(lines) for token in broken.premise_tokens]
    assert [word for word in words if word.isalpha()] == [
        "Señora", "Núñez", "warfarin", "active", "aspirin", "stopped"
    ]  # fmt: skip


def test_a_changed_weights_file_is_not_loaded(tmp_path: Path) -> None:
    folder = tmp_path / "reader"
    shutil.copytree(BUNDLED_NLI_MODEL, folder)
    write_manifest(folder)
    data = bytearray((folder / "model.safetensors").read_bytes())
    data[-1] ^= 1
    (folder / "model.safetensors").write_bytes(data)

    with pytest.raises(DamagedArtifact, match=r"model\.safetensors: SHA-256 is"):
        load_nli_model(folder)


def test_a_missing_file_and_a_manifest_that_points_elsewhere_are_refused(tmp_path: Path) -> None:
    folder = tmp_path / "reader"
    shutil.copytree(BUNDLED_NLI_MODEL, folder)
    manifest = json.loads(write_manifest(folder).read_text())
    (folder / "tokenizer.json").unlink()
    with pytest.raises(DamagedArtifact, match=r"tokenizer\.json: missing"):
        load_nli_model(folder)

    manifest["files"]["../outside"] = "0" * 64
    (folder / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(DamagedArtifact):
        load_nli_model(folder)


def test_what_is_not_there_is_named_with_the_way_to_supply_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(ComponentUnavailable, match="no such folder"):
        load_nli_model(tmp_path / "absent")
    with pytest.raises(ComponentUnavailable, match="safetensors"):
        load_nli_model(tmp_path)
    with pytest.raises(ComponentUnavailable, match="give a folder"):
        load_nli_model("someone/a-model-that-is-not-here")


def test_bf16_is_chosen_only_where_its_labels_agree() -> None:
    assert choose_precision("auto", Calibration(label_agreement={"bf16": 0.990})) == "fp32"
    assert choose_precision("auto", Calibration(label_agreement={})) == "fp32"
    assert choose_precision("fp32", Calibration(label_agreement={"bf16": 1.0})) == "fp32"
    with pytest.raises(ComponentUnavailable, match="precision"):
        choose_precision("int4", Calibration(label_agreement={}))


@pytest.mark.stress
def test_a_checkpoint_of_another_kind_reads_like_the_lean_pass(nli: BertNliModel) -> None:
    tokenizer = AutoTokenizer.from_pretrained(BUNDLED_NLI_MODEL, local_files_only=True)
    model = AutoModelForSequenceClassification.from_pretrained(
        BUNDLED_NLI_MODEL, local_files_only=True, dtype=torch.float32, attn_implementation="eager"
    )
    general = TransformersNliModel(
        name="general", model=model, tokenizer=tokenizer, calibration=nli.calibration
    )

    pairs = some_pairs(6)
    for one, other in zip(nli.read(pairs), general.read(pairs), strict=True):
        assert one is not None and other is not None
        assert abs(one.probabilities.entailment - other.probabilities.entailment) <= 1e-4
        assert [token.span for token in one.tokens] == [token.span for token in other.tokens]
        for mine, theirs in zip(one.tokens, other.tokens, strict=True):
            assert abs(mine.score - theirs.score) <= 1e-4


@pytest.mark.stress
def test_embeddings_are_those_of_sentence_transformers() -> None:
    embedder = load_embedder(precision="fp32")
    from sentence_transformers import SentenceTransformer

    texts = ["Ana Ruiz has asthma.", CHART, CHART * 30, "", "HbA1c 7.2 %"]

    expected = SentenceTransformer(str(packaged_minilm()), device="cpu").encode(
        texts, normalize_embeddings=True
    )

    assert np.abs(embedder.embed(texts) - expected).max() < 1e-5
