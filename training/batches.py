"""Word pieces for training: pairs cut to length, in batches of like length and seeded order."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch

from training.data import Pair

LABELS = ("entailment", "neutral", "contradiction")
UNLABELLED = -2
TARGETS = {label: index for index, label in enumerate(LABELS)}
TARGETS |= {"not_entailment": -1, "": UNLABELLED}
LONGEST_CLAIM = 96  # in training only; an NLI model never cuts a claim


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Word pieces of a few pairs of like length; `pairs` counts them. `taught` has a row a pair, of
    nothing but 0 where no larger NLI model read it."""

    input_ids: torch.Tensor
    token_type_ids: torch.Tensor
    attention_mask: torch.Tensor
    targets: torch.Tensor
    taught: torch.Tensor

    @property
    def pairs(self) -> int:
        return int(self.input_ids.shape[0])

    def part(self, index: int, parts: int) -> Batch:
        """Return every `parts`-th pair from `index` on."""
        return Batch(
            input_ids=self.input_ids[index::parts],
            token_type_ids=self.token_type_ids[index::parts],
            attention_mask=self.attention_mask[index::parts],
            targets=self.targets[index::parts],
            taught=self.taught[index::parts],
        )


class Item(NamedTuple):
    """Word pieces with [CLS] and [SEP], where the claim's segment begins, the label's place in
    `LABELS` (below 0: none of them), and a larger NLI model's probabilities."""

    ids: list[int]
    claim_start: int
    target: int
    taught: tuple[float, ...] = ()


def encode(
    pairs: Sequence[Pair],
    tokenizer: Any,
    maximum_tokens: int,
    windows: random.Random | None = None,
) -> list[Item]:
    """Return the word pieces of every pair, the premise cut to its `premise_tokens`.

    A cut premise keeps its beginning; given `windows`, every second one keeps instead a window
    around the words that it shares with the claim.
    """
    items: list[Item] = []
    cls, sep = tokenizer.cls_token_id, tokenizer.sep_token_id
    # [CLS] premise [SEP] claim [SEP]; MPNet puts two marks between the texts.
    between = [sep] * (tokenizer.num_special_tokens_to_add(pair=True) - 2)
    pieces = _pieces(
        [text for pair in pairs for text in (pair.premise, pair.hypothesis)], tokenizer
    )
    for pair in pairs:
        claim, premise = pieces[pair.hypothesis][:LONGEST_CLAIM], pieces[pair.premise]
        room = min(pair.premise_tokens, maximum_tokens - 2 - len(between) - len(claim))
        if len(premise) > room:
            windowed = windows is not None and windows.random() < 0.5
            begin = window_start(premise, claim, room) if windowed else 0
            premise = premise[begin : begin + room]
        pieces_of_pair = [cls, *premise, *between, *claim, sep]
        start = 1 + len(premise) + len(between)
        items.append(Item(pieces_of_pair, start, TARGETS[pair.label], pair.taught))
    return items


def _pieces(texts: Sequence[str], tokenizer: Any) -> dict[str, list[int]]:
    distinct = list(dict.fromkeys(texts))
    found: dict[str, list[int]] = {}
    for start in range(0, len(distinct), 8192):
        part = distinct[start : start + 8192]
        made = tokenizer(part, add_special_tokens=False, truncation=True, max_length=4096)
        found.update(zip(part, made["input_ids"], strict=True))
    return found


def window_start(premise: Sequence[int], claim: Sequence[int], room: int) -> int:
    """Return where a window of `room` pieces holds most of the rarer pieces that the claim shares
    with the premise."""
    wanted = set(claim)
    counts: dict[int, int] = {}
    for piece in premise:
        counts[piece] = counts.get(piece, 0) + 1
    weight = np.array([1.0 / counts[piece] if piece in wanted else 0.0 for piece in premise])
    total = np.concatenate([[0.0], np.cumsum(weight)])
    return int(np.argmax(total[room:] - total[:-room]))


def plan_batches(items: Sequence[Item], *, tokens_per_batch: int, seed: str) -> list[list[Item]]:
    """Return batches of one padded length and at most `tokens_per_batch` pieces, in seeded order."""
    rng = random.Random(f"batches-{seed}")
    items = sorted(items, key=lambda item: (_rounded(len(item[0])), rng.random()))
    batches: list[list[Item]] = [[]]
    longest = 0
    for item in items:
        padded = _rounded(len(item[0]))
        if batches[-1] and (
            padded != longest or padded * (len(batches[-1]) + 1) > tokens_per_batch
        ):
            batches.append([])
        longest = padded
        batches[-1].append(item)
    rng.shuffle(batches)
    return batches


def _rounded(pieces: int) -> int:
    """Padded lengths are multiples of 8: few shapes, so that the matrix kernels made for one are
    used again."""
    return -(-pieces // 8) * 8


def collate(items: Sequence[Item], device: torch.device) -> Batch:
    """Return one padded batch."""
    longest = _rounded(max(len(item.ids) for item in items))
    input_ids = np.zeros((len(items), longest), dtype=np.int64)
    token_type_ids, attention_mask = np.zeros_like(input_ids), np.zeros_like(input_ids)
    for row, (ids, claim_start, _, _) in enumerate(items):
        input_ids[row, : len(ids)] = ids
        token_type_ids[row, claim_start : len(ids)] = 1
        attention_mask[row, : len(ids)] = 1
    targets = np.array([item.target for item in items])
    taught = np.array([item.taught or (0.0,) * len(LABELS) for item in items], np.float32)
    return Batch(
        input_ids=torch.from_numpy(input_ids).to(device),
        token_type_ids=torch.from_numpy(token_type_ids).to(device),
        attention_mask=torch.from_numpy(attention_mask).to(device),
        targets=torch.from_numpy(targets).to(device),
        taught=torch.from_numpy(taught).to(device),
    )
