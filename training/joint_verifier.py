"""The two-head joint verifier itself: a source head beside the relation head, trained and read."""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional
from transformers import AutoTokenizer

from core.evaluation.packets import PacketRow
from core.models.pair_reader import has_bf16
from core.records import Relation
from training.batches import Batch, collate, encode
from training.data import Pair
from training.forward import pooled_states
from training.reader_start import starting_model

logger = logging.getLogger(__name__)

OTHERS_WEIGHT = 0.3  # a candidate that owns nothing is taken for neutral, with less certainty
RELATIONS = (Relation.ENTAILMENT, Relation.NEUTRAL, Relation.CONTRADICTION)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimPairs:
    """One packet row with the premise that each candidate source offers for its claim."""

    row: PacketRow
    claim: str
    source_ids: tuple[str, ...]
    premises: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class JointReading:
    """What both heads said of a claim's candidates; shapes (sources,) and (sources, 3)."""

    owns: NDArray[np.float64]
    relations: NDArray[np.float64]

    @property
    def best(self) -> int:
        """The candidate that most likely owns the claim; ties go to the earlier one."""
        return int(np.argmax(self.owns))

    def features(self) -> list[float]:
        """What the calibrated row is fitted on: log odds of the owner, its lead, its relation."""
        order = np.sort(self.owns)[::-1]
        lead = float(order[0] - order[1]) if len(order) > 1 else float(order[0])
        top = min(max(float(order[0]), 1e-4), 1 - 1e-4)
        said = np.clip(self.relations[self.best], 1e-4, 1.0)
        return [float(np.log(top / (1 - top))), lead, *map(float, np.log(said))]


class JointVerifier:
    """The pair reader's encoder with a source head beside its relation head."""

    def __init__(self, start: str) -> None:
        self.tokenizer = AutoTokenizer.from_pretrained(start, local_files_only=True)
        self.model = starting_model(start)
        self.model.get_input_embeddings().weight.requires_grad_(False)
        self.source_head = torch.nn.Linear(self.model.config.hidden_size, 1)
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.dtype = torch.bfloat16 if self.device.type == "cuda" or has_bf16() else torch.float32
        self.model.to(self.device)
        self.source_head.to(self.device)

    def trained(self) -> list[torch.nn.Parameter]:
        """The parameters that training changes."""
        held = [p for p in self.model.parameters() if p.requires_grad]
        return [*held, *self.source_head.parameters()]

    def heads(self, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
        """Source logits, shape (pairs,), and relation logits, shape (pairs, 3)."""
        pooled = pooled_states(
            self.model, batch.input_ids, batch.token_type_ids, batch.attention_mask, self.dtype
        )
        return self.source_head(pooled)[:, 0], self.model.classifier(pooled)

    def read(self, claims: Sequence[ClaimPairs], *, batch_pairs: int = 32) -> list[JointReading]:
        """Both heads on every candidate of every claim."""
        items = self._items(claims)
        owns, relations = np.zeros(len(items)), np.zeros((len(items), 3))
        order = sorted(range(len(items)), key=lambda i: len(items[i][0]))
        self.model.eval()
        for start in range(0, len(order), batch_pairs):
            chosen = order[start : start + batch_pairs]
            with torch.inference_mode():
                source, relation = self.heads(collate([items[i] for i in chosen], self.device))
            owns[chosen] = torch.sigmoid(source.float()).cpu().numpy()
            relations[chosen] = torch.softmax(relation.float(), dim=-1).cpu().numpy()
        found, place = [], 0
        for one in claims:
            end = place + len(one.source_ids)
            found.append(JointReading(owns=owns[place:end], relations=relations[place:end]))
            place = end
        return found

    def learn(
        self,
        claims: Sequence[ClaimPairs],
        *,
        passes: float,
        learning_rate: float = 6e-5,
        tokens_per_batch: int = 3072,
        seed: int = 20260607,
    ) -> None:
        """Train both heads and the encoder; the learning rate falls linearly to 0."""
        torch.manual_seed(seed)
        rng = random.Random(seed)
        items = self._items(claims)
        owns, relation, weight = _targets(claims)
        optimizer = torch.optim.AdamW(
            self.trained(), lr=learning_rate, betas=(0.9, 0.98), eps=1e-6, weight_decay=0.01
        )
        batches = _batches([len(ids) for ids, _, _ in items], tokens_per_batch, rng)
        total = max(1, int(len(batches) * passes))
        began, smooth = time.monotonic(), 0.0
        self.model.train()
        for step in range(total):
            if step and step % len(batches) == 0:
                rng.shuffle(batches)
            chosen = batches[step % len(batches)]
            share = (step + 1) / total
            for group in optimizer.param_groups:
                group["lr"] = learning_rate * min(share / 0.06, (1 - share) / 0.94 + 1e-3)
            source, said = self.heads(collate([items[i] for i in chosen], self.device))
            at = torch.tensor(chosen, device=self.device)
            source_loss = functional.binary_cross_entropy_with_logits(
                source.float(), owns.to(self.device)[at]
            )
            each = functional.cross_entropy(
                said.float(), relation.to(self.device)[at], reduction="none", label_smoothing=0.05
            )
            loss = source_loss + (each * weight.to(self.device)[at]).mean()
            loss.backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(self.trained(), 1.0)
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            now = float(loss.detach())
            smooth = now if step == 0 else 0.98 * smooth + 0.02 * now
            if step % 50 == 0:
                spent = time.monotonic() - began
                logger.info("step %d of %d, loss %.3f, %.0f s", step, total, smooth, spent)

    def _items(self, claims: Sequence[ClaimPairs]) -> list[tuple[list[int], int, int]]:
        pairs = [
            Pair(premise=p, hypothesis=c.claim, label="neutral", source="packet")
            for c in claims
            for p in c.premises
        ]
        return encode(pairs, self.tokenizer, 256)


def _targets(claims: Sequence[ClaimPairs]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    owns, relation, weight = [], [], []
    for one in claims:
        for source_id in one.source_ids:
            owner = source_id in one.row.gold_source_ids and one.row.relation is not None
            owns.append(float(source_id in one.row.gold_source_ids))
            said = one.row.relation if owner and one.row.relation else Relation.NEUTRAL
            relation.append(RELATIONS.index(said))
            weight.append(1.0 if owner else OTHERS_WEIGHT)
    return torch.tensor(owns), torch.tensor(relation), torch.tensor(weight)


def _batches(lengths: Sequence[int], tokens: int, rng: random.Random) -> list[list[int]]:
    """Pairs of like length together, in seeded order."""
    order = sorted(range(len(lengths)), key=lambda i: (lengths[i] // 8, rng.random()))
    batches: list[list[int]] = [[]]
    for i in order:
        if batches[-1] and (len(batches[-1]) + 1) * (lengths[i] // 8 + 1) * 8 > tokens:
            batches.append([])
        batches[-1].append(i)
    rng.shuffle(batches)
    return batches
