"""The NLI model: label probabilities and the alignment vector of (premise, claim) pairs in one
forward pass (III.4).

Two NLI models fill `core.ports.NliModel`. `BertNliModel` runs BERT checkpoints (our own weights)
on a lean forward pass; `TransformersNliModel` runs any other sequence-classification checkpoint,
such as the paper's DeBERTa.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from core.errors import ComponentUnavailable
from core.models.bert import (
    BertEncoder,
    BertShape,
    DistanceBias,
    Encoded,
    batch_invariant,
    groups,
    linear_rows,
    padded_length,
)
from core.models.lanes import lanes, share
from core.models.pieces import EncodedPair, Floats, WordPieces, encode_pairs, merge_pieces
from core.records import NliScore, Probabilities, Relation

# Pieces in one forward pass: enough to keep the matrix products busy, few enough to stay in the
# cache.
GROUP_TOKENS = 1_024
# A precision other than fp32 is used only where it gives the same label on this share of
# validation pairs.
LABEL_AGREEMENT = 0.995
LABELS: Mapping[str, Relation] = {
    "entailment": Relation.ENTAILMENT,
    "neutral": Relation.NEUTRAL,
    "contradiction": Relation.CONTRADICTION,
    "not entailment": Relation.NEUTRAL,
    "non entailment": Relation.NEUTRAL,
}
HEADS = (
    ["contradiction", "entailment", "neutral"],
    ["entailment", "not entailment"],
    ["entailment", "non entailment"],
    ["entailment"],
)
# A pair that every NLI model is tried on once, so that one that cannot be used is refused at the start.
TRIAL = ("The door of the hut was painted green last week.", "The door is green.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """What was fitted on validation pairs: the temperature, and how often a precision agrees with
    fp32's label; and whether the least that could show a claim was among what it was taught with."""

    temperature: float = 1.0
    label_agreement: Mapping[str, float]
    taught_close: bool = False


NOT_CALIBRATED = Calibration(label_agreement={})


@dataclass(frozen=True, slots=True, kw_only=True)
class RawScore:
    """Logits in the model's own label order, and the attention between the two texts, before
    rounding: `a_i` of every claim piece (III.4), and the same seen from every premise piece."""

    logits: Floats
    piece_scores: Floats
    premise_scores: Floats


def choose_precision(wanted: str, calibration: Calibration) -> str:
    """Return `bf16` where the processor multiplies it in hardware and the labels agree, else
    `fp32`.

    int8 is not offered: dynamic quantisation scales a whole batch by its largest activation, so
    that a pair's result would depend on its neighbours.
    """
    if wanted not in ("auto", "fp32", "bf16"):
        raise ComponentUnavailable(f"precision: expected auto, fp32 or bf16, found {wanted!r}")
    if wanted != "auto":
        return wanted
    agrees = calibration.label_agreement.get("bf16", 0.0) >= LABEL_AGREEMENT
    return "bf16" if agrees and has_bf16() else "fp32"


def has_bf16() -> bool:
    """Whether the processor multiplies bf16 in hardware."""
    checks = (
        getattr(torch.cpu, f"_is_{name}_supported", None) for name in ("avx512_bf16", "amx_tile")
    )
    return any(check() for check in checks if check is not None)


def relation_order(id2label: Mapping[Any, str], where: str) -> tuple[Relation, ...]:
    """Return the relation at each of the model's outputs, by name; ComponentUnavailable on names
    not known.

    The order is never assumed: checkpoints differ in it. A binary head tells entailment from the
    rest, and the rest stands for neutral: such an NLI model never finds a contradiction. A head of one
    output gives the logit of entailment.
    """
    names = [_label(str(id2label[key])) for key in sorted(id2label, key=int)]
    if sorted(names) not in HEADS:
        raise ComponentUnavailable(
            f"{where}: config.json: id2label: expected entailment, neutral and contradiction in any "
            f"order, or entailment and not_entailment, found {names}"
        )
    order = tuple(LABELS[name] for name in names)
    return order if len(order) > 1 else (*order, Relation.NEUTRAL)


def _label(name: str) -> str:
    return " ".join(name.lower().replace("_", " ").replace("-", " ").split())


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassifierWeights:
    """A cross-encoder as the lean pass takes it: `body` by BERT's names (the pooler with it), the
    last linear map, its labels, and what relative positions add to attention."""

    shape: BertShape
    body: Mapping[str, torch.Tensor]
    classifier: tuple[torch.Tensor, torch.Tensor]
    labels: Mapping[Any, str]
    distances: DistanceBias | None = None


def classifier_weights(state: Mapping[str, torch.Tensor], config: Any) -> ClassifierWeights:
    """Return the weights of a BertForSequenceClassification; KeyError where the head is missing."""
    return ClassifierWeights(
        shape=bert_shape(config),
        body={
            key.removeprefix("bert."): value
            for key, value in state.items()
            if key.startswith("bert.")
        },
        classifier=(state["classifier.weight"], state["classifier.bias"]),
        labels=config.id2label,
    )


class BertNliModel:
    """A BERT cross-encoder on the lean forward pass; fills `core.ports.NliModel`."""

    def __init__(
        self,
        *,
        name: str,
        weights: ClassifierWeights,
        tokenizer: WordPieces,
        calibration: Calibration = NOT_CALIBRATED,
        precision: str = "auto",
        max_tokens: int = 512,
    ) -> None:
        self.name, self.taught_close = name, calibration.taught_close
        self.precision = choose_precision(precision, calibration)
        self.order = relation_order(weights.labels, name)
        self.calibration, self.tokenizer = calibration, tokenizer
        self.max_tokens = min(max_tokens, weights.shape.positions)
        dtype = torch.bfloat16 if self.precision == "bf16" else torch.float32
        body = weights.body
        with torch.inference_mode():
            self._encoder = BertEncoder(body, weights.shape, dtype, weights.distances)
            self._pooler = (body["pooler.dense.weight"].float(), body["pooler.dense.bias"].float())
            self._classifier = (weights.classifier[0].float(), weights.classifier[1].float())
        (invariant,) = lanes().work(batch_invariant, [self._encoder])
        self._group_tokens = GROUP_TOKENS if invariant else 0

    def read(self, pairs: Sequence[tuple[str, str]]) -> list[NliScore | None]:
        """Return one NLI score a pair, in order; None where the claim alone exceeds the token
        budget."""
        return _nli_scores(self, pairs, self.read_raw)

    def read_raw(self, encoded: Sequence[EncodedPair]) -> list[RawScore]:
        """Return logits and piece scores of encoded pairs, in order."""
        found: dict[int, RawScore] = {}
        lengths = [
            padded_length(len(pair.pieces.ids), self._encoder.shape.positions) for pair in encoded
        ]

        def read_group(group: tuple[int, list[int]]) -> None:
            padded, indices = group
            texts = [encoded[i].pieces for i in indices]
            first, attention = self._encoder.first_state_and_attention(texts, padded)
            pooled = torch.tanh(linear_rows(first, *self._pooler))
            logits = linear_rows(pooled, *self._classifier).double().numpy()
            for row, index in enumerate(indices):
                claim_side, premise_side = _piece_scores(attention[row], texts[row])
                found[index] = RawScore(
                    logits=logits[row], piece_scores=claim_side, premise_scores=premise_side
                )

        lanes().work(read_group, list(groups(lengths, share(lengths, self._group_tokens))))
        return [found[i] for i in range(len(encoded))]


class TransformersNliModel:
    """Any other sequence-classification checkpoint, one pair a pass; fills
    `core.ports.NliModel`.

    Reading one pair at a time is what makes its result independent of the others: padded length
    and kernel shapes then depend on the pair alone. A pass holds one pair's attention, never a
    batch's.
    """

    precision = "fp32"

    def __init__(
        self,
        *,
        name: str,
        model: Any,
        tokenizer: Any,
        calibration: Calibration = NOT_CALIBRATED,
        max_tokens: int = 512,
    ) -> None:
        self.name, self.calibration = name, calibration
        self.tokenizer = word_pieces(tokenizer, name)
        self.order = relation_order(model.config.id2label, name)
        self.max_tokens = min(max_tokens, _usable_positions(model, max_tokens))
        self._model = model.float().eval()
        self._try_once()

    def read(self, pairs: Sequence[tuple[str, str]]) -> list[NliScore | None]:
        """Return one NLI score a pair, in order; None where the claim alone exceeds the token
        budget."""
        return _nli_scores(self, pairs, lambda encoded: lanes().work(self._read_one, encoded))

    def _try_once(self) -> None:
        try:
            read = self.read([TRIAL])[0]
        except (ValueError, TypeError, KeyError, IndexError, RuntimeError) as error:
            reason = str(error).strip().split("\n")[0]
            raise ComponentUnavailable(
                f"{self.name}: cannot read a pair of texts: {reason}"
            ) from error
        if read is None:
            raise ComponentUnavailable(
                f"{self.name}: has room for {self.max_tokens} pieces, too few for a plain pair"
            )

    def _read_one(self, pair: EncodedPair) -> RawScore:
        given = {
            "input_ids": torch.tensor([pair.pieces.ids]),
            "attention_mask": torch.ones(1, len(pair.pieces.ids)),
        }
        if int(getattr(self._model.config, "type_vocab_size", 0)) > 1:
            given["token_type_ids"] = torch.tensor([pair.pieces.types])
        output = self._model(**given, output_attentions=True)
        # A model with an encoder and a decoder reads the pair in its encoder.
        layers = output.get("attentions") or output.get("encoder_attentions")
        if not layers:
            raise ComponentUnavailable(f"{self.name}: gives no attention, which III.4 asks for")
        attention = sum((layer[0].mean(0) for layer in layers), torch.zeros(())) / len(layers)
        claim_side, premise_side = _piece_scores(attention, pair.pieces)
        return RawScore(
            logits=output.logits[0].double().numpy(),
            piece_scores=claim_side,
            premise_scores=premise_side,
        )


def _nli_scores(
    nli: BertNliModel | TransformersNliModel,
    pairs: Sequence[tuple[str, str]],
    read_raw: Callable[[Sequence[EncodedPair]], list[RawScore]],
) -> list[NliScore | None]:
    encoded = encode_pairs(pairs, nli.tokenizer, nli.max_tokens)
    raw = iter(read_raw([pair for pair in encoded if pair is not None]))
    return [
        None
        if pair is None
        else nli_score(pair, next(raw), texts, nli.order, nli.calibration.temperature)
        for pair, texts in zip(encoded, pairs, strict=True)
    ]


def _usable_positions(model: Any, most: int) -> int:
    """Positions that a text may take: fewer than stored where the first ones stand for padding."""
    found = int(getattr(model.config, "max_position_embeddings", most))
    for name, module in model.named_modules():
        if (
            name.endswith("position_embeddings")
            and getattr(module, "padding_idx", None) is not None
        ):
            return found - int(module.padding_idx) - 1
    return found


def word_pieces(tokenizer: Any, where: str) -> WordPieces:
    """Return what a transformers tokenizer cuts texts with; ComponentUnavailable where it is one of
    those that do not tell where a piece stands in its text."""
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is None:
        raise ComponentUnavailable(
            f"{where}: its tokenizer does not tell where a piece stands; one with tokenizer.json does"
        )
    return WordPieces(backend)


def bert_shape(config: Any) -> BertShape:
    """Return the sizes that the lean pass needs."""
    return BertShape(
        layers=config.num_hidden_layers,
        heads=config.num_attention_heads,
        hidden=config.hidden_size,
        positions=config.max_position_embeddings,
        layer_norm_epsilon=config.layer_norm_eps,
    )


def _piece_scores(attention: torch.Tensor, pieces: Encoded) -> tuple[Floats, Floats]:
    """Return `a_i`, the most that claim piece i attends to one premise piece (III.4), and the most
    that any claim piece attends to each premise piece; 0 where one side is empty."""
    rows = attention[pieces.claim[0] : pieces.claim[1], pieces.premise[0] : pieces.premise[1]]
    if rows.numel() == 0:
        return np.zeros(rows.shape[0]), np.zeros(rows.shape[1])
    claim_side: Floats = rows.max(dim=1).values.double().numpy()
    premise_side: Floats = rows.max(dim=0).values.double().numpy()
    return claim_side, premise_side


def nli_score(
    pair: EncodedPair,
    raw: RawScore,
    texts: tuple[str, str],
    order: Sequence[Relation],
    temperature: float,
) -> NliScore:
    """Return the rounded record of one pair of `texts` (premise, claim)."""
    premise, claim = texts
    # One output is the logit of entailment against nothing else.
    logits = raw.logits if len(raw.logits) > 1 else np.append(raw.logits, 0.0)
    scaled = logits / temperature
    exponents = np.exp(scaled - scaled.max())
    by_relation = {
        relation: round(float(value), 4)
        for relation, value in zip(order, exponents / exponents.sum(), strict=True)
    }
    return NliScore(
        probabilities=Probabilities(
            entailment=by_relation.get(Relation.ENTAILMENT, 0.0),
            neutral=by_relation.get(Relation.NEUTRAL, 0.0),
            contradiction=by_relation.get(Relation.CONTRADICTION, 0.0),
        ),
        tokens=merge_pieces(claim, pair.claim_spans, raw.piece_scores),
        premise_truncated=pair.truncated,
        premise_tokens=merge_pieces(premise, pair.premise_spans, raw.premise_scores),
    )
