"""The pair reader: label probabilities and the alignment vector of (premise, claim) pairs in one
forward pass (III.4).

Two readers fill `core.ports.PairReader`. `BertPairReader` runs BERT checkpoints (our own weights)
on a lean forward pass; `TransformersPairReader` runs any other sequence-classification checkpoint,
such as the paper's DeBERTa.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from core.errors import ComponentUnavailable
from core.models.bert import (
    BertEncoder,
    BertShape,
    Encoded,
    batch_invariant,
    groups,
    linear_rows,
    padded_length,
)
from core.records import PairReading, Probabilities, Relation, Span, TokenScore
from core.text.tokens import word_spans

# Pieces in one forward pass: enough to keep the matrix products busy, few enough to stay in the
# cache.
GROUP_TOKENS = 1_024
# A precision other than fp32 is used only where it gives the same label on this share of
# validation pairs.
LABEL_AGREEMENT = 0.995
Floats = NDArray[np.float64]
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
# A pair that every reader is tried on once, so that one that cannot be used is refused at the start.
TRIAL = ("The door of the hut was painted green last week.", "The door is green.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """What was fitted on validation pairs: the temperature, and how often a precision agrees with
    fp32's label."""

    temperature: float = 1.0
    label_agreement: Mapping[str, float]


NOT_CALIBRATED = Calibration(label_agreement={})


@dataclass(frozen=True, slots=True, kw_only=True)
class EncodedPair:
    """One pair as the model sees it, with the claim's pieces mapped back to the claim's text."""

    pieces: Encoded
    claim_spans: tuple[Span, ...]
    truncated: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RawReading:
    """Logits in the model's own label order, and `a_i` of every claim piece (III.4), before
    rounding."""

    logits: Floats
    piece_scores: Floats


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
    rest, and the rest stands for neutral: such a reader never finds a contradiction. A head of one
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


class BertPairReader:
    """A BERT cross-encoder on the lean forward pass; fills `core.ports.PairReader`."""

    def __init__(
        self,
        *,
        name: str,
        model: Any,
        tokenizer: Any,
        calibration: Calibration = NOT_CALIBRATED,
        precision: str = "auto",
        max_tokens: int = 512,
    ) -> None:
        self.name = name
        self.precision = choose_precision(precision, calibration)
        self.order = relation_order(model.config.id2label, name)
        self.calibration, self.tokenizer = calibration, tokenizer
        self._tokenizing = (
            threading.Lock()
        )  # a fast tokenizer must not be set up by two threads at once
        self.max_tokens = min(max_tokens, int(model.config.max_position_embeddings))
        state = {key: value.detach() for key, value in model.state_dict().items()}
        body = {
            key.removeprefix("bert."): value
            for key, value in state.items()
            if key.startswith("bert.")
        }
        dtype = torch.bfloat16 if self.precision == "bf16" else torch.float32
        with torch.inference_mode():
            self._encoder = BertEncoder(body, bert_shape(model.config), dtype)
            self._pooler = (body["pooler.dense.weight"].float(), body["pooler.dense.bias"].float())
            self._classifier = (
                state["classifier.weight"].float(),
                state["classifier.bias"].float(),
            )
            self._group_tokens = GROUP_TOKENS if batch_invariant(self._encoder) else 0

    def read(self, pairs: Sequence[tuple[str, str]]) -> list[PairReading | None]:
        """Return one reading a pair, in order; None where the claim alone exceeds the token
        budget."""
        with self._tokenizing:
            encoded = encode_pairs(pairs, self.tokenizer, self.max_tokens)
        raw = self.read_raw([pair for pair in encoded if pair is not None])
        readings = iter(raw)
        return [
            None
            if pair is None
            else reading(pair, next(readings), claim, self.order, self.calibration.temperature)
            for pair, (_, claim) in zip(encoded, pairs, strict=True)
        ]

    def read_raw(self, encoded: Sequence[EncodedPair]) -> list[RawReading]:
        """Return logits and piece scores of encoded pairs, in order."""
        found: dict[int, RawReading] = {}
        lengths = [
            padded_length(len(pair.pieces.ids), self._encoder.shape.positions) for pair in encoded
        ]
        with torch.inference_mode():
            for padded, indices in groups(lengths, self._group_tokens):
                texts = [encoded[i].pieces for i in indices]
                first, attention = self._encoder.first_state_and_attention(texts, padded)
                pooled = torch.tanh(linear_rows(first, *self._pooler))
                logits = linear_rows(pooled, *self._classifier).double().numpy()
                for row, index in enumerate(indices):
                    found[index] = RawReading(
                        logits=logits[row], piece_scores=_claim_scores(attention[row], texts[row])
                    )
        return [found[i] for i in range(len(encoded))]


class TransformersPairReader:
    """Any other sequence-classification checkpoint, one pair a pass; fills
    `core.ports.PairReader`.

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
        self.name, self.tokenizer, self.calibration = name, tokenizer, calibration
        self._tokenizing = threading.Lock()
        self.order = relation_order(model.config.id2label, name)
        self.max_tokens = min(max_tokens, _usable_positions(model, max_tokens))
        self._model = model.float().eval()
        self._try_once()

    def read(self, pairs: Sequence[tuple[str, str]]) -> list[PairReading | None]:
        """Return one reading a pair, in order; None where the claim alone exceeds the token
        budget."""
        with self._tokenizing:
            encoded = encode_pairs(pairs, self.tokenizer, self.max_tokens)
        return [
            None
            if pair is None
            else reading(
                pair, self._read_one(pair), claim, self.order, self.calibration.temperature
            )
            for pair, (_, claim) in zip(encoded, pairs, strict=True)
        ]

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

    def _read_one(self, pair: EncodedPair) -> RawReading:
        given = {
            "input_ids": torch.tensor([pair.pieces.ids]),
            "attention_mask": torch.ones(1, len(pair.pieces.ids)),
        }
        if int(getattr(self._model.config, "type_vocab_size", 0)) > 1:
            given["token_type_ids"] = torch.tensor([pair.pieces.types])
        with torch.inference_mode():
            output = self._model(**given, output_attentions=True)
        # A model with an encoder and a decoder reads the pair in its encoder.
        layers = output.get("attentions") or output.get("encoder_attentions")
        if not layers:
            raise ComponentUnavailable(f"{self.name}: gives no attention, which III.4 asks for")
        attention = sum((layer[0].mean(0) for layer in layers), torch.zeros(())) / len(layers)
        return RawReading(
            logits=output.logits[0].double().numpy(),
            piece_scores=_claim_scores(attention, pair.pieces),
        )


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


def bert_shape(config: Any) -> BertShape:
    """Return the sizes that the lean pass needs."""
    return BertShape(
        layers=config.num_hidden_layers,
        heads=config.num_attention_heads,
        hidden=config.hidden_size,
        positions=config.max_position_embeddings,
        layer_norm_epsilon=config.layer_norm_eps,
    )


def encode_pairs(
    pairs: Sequence[tuple[str, str]], tokenizer: Any, max_tokens: int
) -> list[EncodedPair | None]:
    """Return the word pieces of each pair: the premise is cut, never the claim; None where no
    premise would fit."""
    special = int(tokenizer.num_special_tokens_to_add(pair=True))
    claims = list(dict.fromkeys(claim for _, claim in pairs))
    sizes: dict[str, int] = {}
    if claims:
        counted = tokenizer(claims, add_special_tokens=False, return_attention_mask=False)[
            "input_ids"
        ]
        sizes = {claim: len(ids) for claim, ids in zip(claims, counted, strict=True)}
    fitting = [pair for pair in pairs if sizes[pair[1]] + special < max_tokens]
    if not fitting:
        return [None] * len(pairs)
    made = tokenizer(
        [premise for premise, _ in fitting],
        [claim for _, claim in fitting],
        truncation="only_first",
        max_length=max_tokens,
        return_overflowing_tokens=False,
    )
    ready = iter([_encoded(encoding) for encoding in made.encodings])
    return [next(ready) if sizes[claim] + special < max_tokens else None for _, claim in pairs]


def _encoded(encoding: Any) -> EncodedPair:
    sides = encoding.sequence_ids
    premise = [i for i, side in enumerate(sides) if side == 0]
    claim = [i for i, side in enumerate(sides) if side == 1]
    pieces = Encoded(
        ids=tuple(encoding.ids),
        types=tuple(encoding.type_ids),
        premise=(premise[0], premise[-1] + 1) if premise else (0, 0),
        claim=(claim[0], claim[-1] + 1) if claim else (0, 0),
    )
    spans = tuple(Span(start=start, end=end) for start, end in (encoding.offsets[i] for i in claim))
    return EncodedPair(pieces=pieces, claim_spans=spans, truncated=bool(encoding.overflowing))


def _claim_scores(attention: torch.Tensor, pieces: Encoded) -> Floats:
    """Return `a_i`: the most that claim piece i attends to one premise piece; 0 where there is no
    premise (III.4)."""
    rows = attention[pieces.claim[0] : pieces.claim[1], pieces.premise[0] : pieces.premise[1]]
    if rows.numel() == 0:
        return np.zeros(pieces.claim[1] - pieces.claim[0])
    scores: Floats = rows.max(dim=1).values.double().numpy()
    return scores


def reading(
    pair: EncodedPair, raw: RawReading, claim: str, order: Sequence[Relation], temperature: float
) -> PairReading:
    """Return the rounded record of one pair."""
    # One output is the logit of entailment against nothing else.
    logits = raw.logits if len(raw.logits) > 1 else np.append(raw.logits, 0.0)
    scaled = logits / temperature
    exponents = np.exp(scaled - scaled.max())
    by_relation = {
        relation: round(float(value), 4)
        for relation, value in zip(order, exponents / exponents.sum(), strict=True)
    }
    return PairReading(
        probabilities=Probabilities(
            entailment=by_relation.get(Relation.ENTAILMENT, 0.0),
            neutral=by_relation.get(Relation.NEUTRAL, 0.0),
            contradiction=by_relation.get(Relation.CONTRADICTION, 0.0),
        ),
        tokens=merge_pieces(claim, pair.claim_spans, raw.piece_scores),
        premise_truncated=pair.truncated,
    )


def merge_pieces(claim: str, spans: Sequence[Span], scores: Floats) -> tuple[TokenScore, ...]:
    """Return one score a word of the claim: the highest of its pieces (a word is as grounded as
    its best piece).

    Words are those of core.text.tokens ("bench-6" and "7.2" are one word each); pieces outside
    words (punctuation) keep their own entry, because `max_k a_k` of III.4 runs over all claim
    tokens.
    """
    words = word_spans(claim)
    best: dict[tuple[int, int], float] = {}
    at = 0
    for span, score in zip(spans, scores, strict=True):
        while at < len(words) and words[at].end <= span.start:
            at += 1
        inside = at < len(words) and words[at].overlaps(span)
        holder = words[at] if inside else span
        key = (holder.start, holder.end)
        best[key] = max(best.get(key, 0.0), float(score))
    return tuple(
        TokenScore(span=Span(start=start, end=end), score=round(score, 4))
        for (start, end), score in best.items()
    )
