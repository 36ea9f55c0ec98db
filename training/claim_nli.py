"""Teach an NLI model from labelled claims of whole answers: several windows a claim, one label.

Which window decides is not labelled, so the loss is of the claim: the log-odds of entailment of its
windows are summed in probability (log-sum-exp), a supported claim wants one window that entails it,
any other wants none. With ``--folds`` an NLI model is also made for each fold of the traces that has
seen none of them: what it says of these is what a calibrator may be fitted on.

Such claims are mostly wrong by having no ground at all, and an NLI model taught on them alone forgets to
look at the one word that differs. With ``--replay`` each step reads written pairs beside the claims.

    python -m training.claim_nli --claims claims.jsonl --start READER --out run [--folds 4]
"""

from __future__ import annotations

import argparse
import logging
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from core.models.nli_model import has_bf16
from training.adapted_mpnet import AdaptedMpnet, Copies
from training.batches import Batch, Item, collate, encode, plan_batches
from training.claim_windows import LabelledClaim, read_claims
from training.command import from_arguments
from training.data import Pair, authored_pass, fold_of, load_sources
from training.forward import Drop, Dropout, keep_all, pair_logits
from training.nli_model import pair_loss
from training.nli_start import starting_point, with_line_mark

logger = logging.getLogger(__name__)

CPU = torch.device("cpu")
USUAL_CLAIMS = 12  # of a batch; the loss is of claims, however many fit
SMOOTHING = 0.1
ROWS_PER_SOURCE = 1_500  # of general pairs that are replayed
AUTHORED_TO_GENERAL = 2
REPLAY_SMOOTHING = 0.05  # as the pairs were taught first


@dataclass(frozen=True, kw_only=True)
class ClaimTraining:
    """How an NLI model is taught; ``windows``: the most of a claim, the most entailing of before."""

    start: str
    epochs: int = 2
    windows: int = 3
    learning_rate: float = 2e-5
    weight_decay: float = 0.01
    warmup_share: float = 0.1
    dropout: float = 0.1
    frozen_layers: int = 0  # of BERT, from below; the word embeddings always are
    positions_per_batch: int = 4096  # padded
    maximum_tokens: int = 384
    kept_share: float = 0.0  # of the weights of the start, in what is written
    line_mark: str = ""  # a character that line breaks are read as; none: as the start reads them
    replay: float = 0.0  # padded positions of written pairs beside each of a claim's
    replay_without: tuple[str, ...] = ()  # authored files whose names begin so
    replay_data: Path | None = None  # general pairs too: a folder with train/, binary/ and more/
    seed: int = 20260607
    threads: int = 2


@dataclass(frozen=True, slots=True)
class _Claim:
    supported: bool
    items: tuple[Item, ...]

    @property
    def longest(self) -> int:
        return max(len(item.ids) for item in self.items)


def teach(claims: Sequence[LabelledClaim], options: ClaimTraining, out: Path) -> float:
    """Train on the claims, write the NLI model to ``out`` and return the last smoothed loss.

    Raises ValueError where all claims have one label.
    """
    torch.manual_seed(options.seed)
    torch.set_num_threads(1)
    dtype = torch.bfloat16 if has_bf16() else torch.float32
    model, tokenizer = starting_point(options.start, dtype)
    if options.line_mark:
        tokenizer = with_line_mark(tokenizer, options.line_mark)
    _freeze(model, options.frozen_layers)
    begun = {name: p.detach().clone() for name, p in model.named_parameters() if p.requires_grad}
    ready = [_encoded(claim, tokenizer, options) for claim in claims if claim.windows]
    good = float(np.mean([claim.supported for claim in ready]))
    if not 0.0 < good < 1.0:
        raise ValueError("all claims have the same label: there is nothing to learn")
    replayed = replayed_batches(
        tokenizer,
        without=options.replay_without,
        general=options.replay_data,
        positions=round(options.replay * options.positions_per_batch),
        maximum_tokens=options.maximum_tokens,
        seed=options.seed,
    )
    loss = _Run(model, options, dtype, good).train(ready, replayed if options.replay else None)
    with torch.no_grad():
        for name, p in model.named_parameters():
            if name in begun:
                p.lerp_(begun[name], options.kept_share)
    if isinstance(model, AdaptedMpnet):
        model.save_pretrained(out)
    else:
        model.half().save_pretrained(out)
        tokenizer.save_pretrained(out)
    return loss


def _freeze(model: Any, layers: int) -> None:
    if isinstance(model, AdaptedMpnet):
        return
    still = [model.bert.embeddings, *model.bert.encoder.layer[:layers]]
    parts = still if layers else [model.get_input_embeddings()]
    for part in parts:
        part.requires_grad_(False)


def _encoded(claim: LabelledClaim, tokenizer: Any, options: ClaimTraining) -> _Claim:
    pairs = [
        Pair(premise=one.premise, hypothesis=one.hypothesis, label="entailment",
             source=claim.packet, premise_tokens=options.maximum_tokens)
        for one in claim.windows[: options.windows]
    ]  # fmt: skip
    return _Claim(claim.supported, tuple(encode(pairs, tokenizer, options.maximum_tokens)))


class _Run:
    """Steps over batches of claims, half of each batch on each core."""

    def __init__(self, model: Any, options: ClaimTraining, dtype: torch.dtype, good: float) -> None:
        self.options, self.dtype = options, dtype
        # Both labels weigh the same together, whatever their numbers.
        self.weight = {True: 0.5 / good, False: 0.5 / (1.0 - good)}
        self.copies = Copies(model, options.threads)
        self.optimizer = torch.optim.AdamW(
            self.copies.trained[0],
            lr=options.learning_rate,
            weight_decay=options.weight_decay,
            betas=(0.9, 0.98),
            fused=True,
        )

    def train(self, claims: Sequence[_Claim], replayed: Iterator[Sequence[Item]] | None) -> float:
        """Return the smoothed loss of a claim at the end."""
        options, rng = self.options, random.Random(self.options.seed)
        planned = [batch for _ in range(options.epochs) for batch in _batches(claims, options, rng)]
        began, loss = time.monotonic(), float("nan")
        for step, batch in enumerate(planned):
            share, warm = step / len(planned), options.warmup_share
            rate = min((share + 1e-3) / warm, (1.0 - share) / (1.0 - warm))
            for group in self.optimizer.param_groups:
                group["lr"] = options.learning_rate * rate
            again = next(replayed) if replayed else ()
            every = options.threads
            tasks = [
                partial(self._gradients, part, again[i::every], step, len(again))
                for i in range(every)
                if (part := batch[i::every])
            ]
            value = self.copies.learn(self.optimizer, tasks) / len(batch)
            loss = value if step == 0 else 0.98 * loss + 0.02 * value
            if step % 50 == 49:
                told = (step + 1, len(planned), loss, time.monotonic() - began)
                logger.info("step %d of %d, loss %.4f, %.0f s", *told)
        return loss

    def _gradients(
        self,
        claims: Sequence[_Claim],
        pairs: Sequence[Item],
        step: int,
        all_pairs: int,
        model: Any,
        worker: int,
    ) -> float:
        """Leave the gradients of one part of a step on one copy of the model; return the summed
        loss of its claims."""
        generator = torch.Generator(CPU)
        generator.manual_seed((self.options.seed * 1_000_003 + step) * 64 + worker)
        drop = Dropout(self.options.dropout, generator) if self.options.dropout else keep_all
        batch = collate([item for claim in claims for item in claim.items], CPU)
        loss = claim_loss(self._logits(model, batch, drop), [len(claim.items) for claim in claims],
                          [claim.supported for claim in claims], self.weight)  # fmt: skip
        (loss / USUAL_CLAIMS).backward()  # type: ignore[no-untyped-call]
        if pairs:
            batch = collate(pairs, CPU)
            again = pair_loss(self._logits(model, batch, drop), batch.targets, REPLAY_SMOOTHING)
            (again * (len(pairs) / all_pairs)).backward()  # type: ignore[no-untyped-call]
        return float(loss.detach())

    def _logits(self, model: Any, batch: Batch, drop: Drop) -> torch.Tensor:
        return pair_logits(
            model,
            batch.input_ids,
            batch.token_type_ids,
            batch.attention_mask,
            self.dtype,
            drop,
        ).float()


def replayed_batches(
    tokenizer: Any,
    *,
    without: Sequence[str],
    general: Path | None,
    positions: int,
    maximum_tokens: int,
    seed: int,
) -> Iterator[Sequence[Item]]:
    """Yield without end batches of at most `positions` word pieces, padding counted.

    The authored pairs, but of files whose names begin as one of `without`; for each
    `AUTHORED_TO_GENERAL` of them one human-labelled pair under `general` (which holds train/,
    binary/ and more/), where given.
    """
    rows = load_sources(general, ROWS_PER_SOURCE) if general else {}
    others = [pair for found in rows.values() for pair in found]
    index = 0
    while True:
        rng = random.Random(f"replay-{seed}-{index}")
        pairs: list[Pair] = authored_pass(seed, index, without)
        if others:
            pairs += rng.sample(others, min(len(others), len(pairs) // AUTHORED_TO_GENERAL))
        rng.shuffle(pairs)
        # A share at a time: a short run need not tokenise what it never reads.
        for start in range(0, len(pairs), 4_096):
            part = f"replay-{seed}-{index}-{start}"
            some = pairs[start : start + 4_096]
            items = encode(some, tokenizer, maximum_tokens, windows=random.Random(part))
            yield from plan_batches(items, tokens_per_batch=positions, seed=part)
        index += 1


def claim_loss(
    logits: torch.Tensor,
    windows: Sequence[int],
    supported: Sequence[bool],
    weight: Mapping[bool, float],
) -> torch.Tensor:
    """Return the summed weighted cross-entropy of claims: `logits`, shape (sum of `windows`, 3),
    entailment first, in the order of the claims."""
    odds = logits[:, 0] - torch.logsumexp(logits[:, 1:], dim=-1)
    claims = torch.stack(
        [torch.logsumexp(part, dim=0) for part in torch.split(odds, list(windows))]
    )
    wanted = torch.tensor([float(one) for one in supported])
    weights = torch.tensor([weight[one] for one in supported])
    smoothed = wanted * (1.0 - SMOOTHING) + 0.5 * SMOOTHING
    each = functional.binary_cross_entropy_with_logits(claims, smoothed, reduction="none")
    return (weights * each).sum()


def _batches(
    claims: Sequence[_Claim], options: ClaimTraining, rng: random.Random
) -> list[list[_Claim]]:
    """Batches of claims of like length, in seeded order."""
    ordered = sorted(claims, key=lambda claim: (claim.longest // 16, rng.random()))
    batches: list[list[_Claim]] = [[]]
    pairs = 0
    for claim in ordered:
        pairs += len(claim.items)
        if batches[-1] and pairs * claim.longest > options.positions_per_batch:
            batches.append([])
            pairs = len(claim.items)
        batches[-1].append(claim)
    rng.shuffle(batches)
    return batches


def main(arguments: Sequence[str] | None = None) -> None:
    """Teach the NLI model that ships and those of the folds."""
    parser = argparse.ArgumentParser(
        description=f"{__doc__}\nEvery option of ClaimTraining follows: --epochs, --windows, …",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--claims", type=Path, nargs="+", required=True, help="of claim_windows")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--folds", type=int, default=0)
    parser.add_argument("--only", type=int, nargs="*", help="these folds alone; -1: on all claims")
    given, others = parser.parse_known_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    options = from_arguments(ClaimTraining, __doc__, others)
    claims = [claim for path in given.claims for claim in read_claims(path)]
    for fold in [-1, *range(given.folds)] if given.only is None else given.only:
        out = given.out / ("whole" if fold < 0 else f"fold-{fold}")
        seen = [c for c in claims if fold < 0 or fold_of(c.trace_id, given.folds) != fold]
        if (out / "config.json").exists() or (out / "adapters.safetensors").exists():
            continue
        logger.info("%s: %d claims", out.name, len(seen))
        logger.info("%s: loss %.4f", out.name, teach(seen, options, out))


if __name__ == "__main__":
    main()
