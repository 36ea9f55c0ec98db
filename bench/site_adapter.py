"""What teaching the bundled NLI model a site's labels brings, on the site's other answers.

    python -m bench site_adapter PACKET=PREDICTIONS=CLAIMS... [--labels 50 100 200 400] [--draws 5]

PREDICTIONS is what ``evaluate PACKET --keep PREDICTIONS`` kept, CLAIMS what ``python -m
training.claim_windows PACKET --close --out CLAIMS`` wrote. In each draw half of the answers are held out,
and from the others whole answers are labelled, in random order. Taught is how the model reads close, in
three ways: a logistic regression on its embedding of a pair (head), its pooler and classifier (last), and
low-rank adapters of queries and values in its upper layers (lora). What ships decides with the new score in
the place of the old one.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from torch.nn.utils import parametrize

from bench.report import Report
from bench.sites import labelled_rows
from core.calibration.gain import passes
from core.calibration.rows import TrainingRow
from core.models.adapters import changed_weights
from core.models.forest import Forest, load_forest
from core.models.loading import BUNDLED_NLI_MODEL
from core.models.nli_model import classifier_weights, has_bf16
from core.models.weight_files import CLOSE_FILE
from core.records import CLOSE_FEATURE
from training.batches import collate, encode
from training.claim_nli import claim_loss
from training.claim_windows import LabelledClaim, read_claims
from training.data import Pair
from training.forward import pair_logits
from training.nli_start import starting_point

CPU = torch.device("cpu")
WINDOWS, TOKENS = 3, 192  # of a claim, and of a window
LAYERS, RANK = 4, 8  # of the adapters
Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """Labelled claims with their features, and each one's windows as the model takes them."""

    rows: Sequence[TrainingRow]
    items: Sequence[Sequence[Any]]

    def pick(self, places: Sequence[int]) -> Site:
        """Some of its claims."""
        return Site(rows=[self.rows[i] for i in places], items=[self.items[i] for i in places])


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of this suite."""
    parser.add_argument("sites", nargs="+", metavar="PACKET=PREDICTIONS=CLAIMS")
    parser.add_argument("--labels", type=int, nargs="+", default=[50, 100, 200, 400])
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--lora-labels", type=int, nargs="*", default=[400])
    parser.add_argument("--lora-draws", type=int, default=1)


def run(options: argparse.Namespace) -> Report:
    """One line a site, number of labels and way of teaching: means over the draws."""
    lines: list[Sequence[str | int]] = []
    forest = load_forest()
    for given in options.sites:
        name = Path(given.partition("=")[0]).name.partition(".")[0]
        site = site_of(given)
        ways: Sequence[tuple[str, Callable[..., Array], int, Sequence[int]]] = (
            ("head", by_head, options.draws, options.labels),
            ("last", by_last, options.draws, options.labels),
            ("lora", by_lora, options.lora_draws, options.lora_labels),
        )
        for way, taught, draws, counts in ways:
            for labels in counts:
                pairs = [drawn(site, labels, draw, taught, forest) for draw in range(draws)]
                told = [
                    f"{then:.3f} → {now:.3f}"
                    for then, now in zip(*np.nanmean(pairs, axis=0), strict=True)
                ]
                lines.append((name, way, labels, draws, *told))
                print("|", *lines[-1], flush=True)
    columns = ("site", "taught", "labels", "draws", "AUROC of the close score", "AUROC",
               "good allowed", "bad allowed")  # fmt: skip
    return Report().table(
        "Taught on a site's labels, held-out answers (before → after)", columns, lines
    )


def site_of(given: str) -> Site:
    """The claims that were both predicted and cut to what is closest to them."""
    packet, kept, cut = given.split("=")
    claims = {one.claim_id: one for one in read_claims(Path(cut)) if one.windows}
    rows = [one for one in labelled_rows(Path(packet), Path(kept)) if one.claim_id in claims]
    tokenizer = close_model()[1]
    return Site(rows=rows, items=[items_of(claims[one.claim_id], tokenizer) for one in rows])


def items_of(claim: LabelledClaim, tokenizer: Any) -> Sequence[Any]:
    """The claim's windows, tokenised."""
    pairs = [
        Pair(premise=one.premise, hypothesis=one.hypothesis, label="entailment",
             source="", premise_tokens=TOKENS)
        for one in claim.windows[:WINDOWS]
    ]  # fmt: skip
    return tuple(encode(pairs, tokenizer, TOKENS))


def close_model() -> tuple[Any, Any]:
    """The bundled NLI model as it reads close, to be taught, and its tokenizer."""
    torch.set_num_threads(1)
    model, tokenizer = starting_point(str(BUNDLED_NLI_MODEL), torch.float32)
    weights = classifier_weights(model.state_dict(), model.config)
    close = changed_weights(weights, BUNDLED_NLI_MODEL / CLOSE_FILE)
    model.load_state_dict(
        {f"bert.{name}": value for name, value in close.body.items()}
        | dict(zip(("classifier.weight", "classifier.bias"), close.classifier, strict=True)),
        strict=False,
    )
    return model.requires_grad_(False), tokenizer


def drawn(
    site: Site, labels: int, draw: int, taught: Callable[..., Array], forest: Forest
) -> Array:
    """Before and after, shape (2, 4): AUROC of the close score, of the decision, shares allowed."""
    traces = sorted({row.trace_id for row in site.rows})
    np.random.default_rng(draw).shuffle(traces)
    half = len(traces) // 2
    by_trace = {
        name: [i for i, row in enumerate(site.rows) if row.trace_id == name] for name in traces
    }
    known = site.pick([i for name in traces[:half] for i in by_trace[name]][:labels])
    held_out = site.pick([i for name in traces[half:] for i in by_trace[name]])
    before = np.array([row.features.numeric[CLOSE_FEATURE] for row in held_out.rows])
    return np.array([measured(held_out.rows, close, forest) for close in
                     (before, taught(known, held_out, draw))])  # fmt: skip


def measured(rows: Sequence[TrainingRow], close: Array, forest: Forest) -> Sequence[float]:
    """What the forest makes of the claims with these close scores."""
    new = [
        replace(row, features=replace(
            row.features, numeric={**row.features.numeric, CLOSE_FEATURE: float(score)}))
        for row, score in zip(rows, close, strict=True)
    ]  # fmt: skip
    bad, passed = np.array([row.should_block for row in new]), passes(new, forest)
    chance = forest.probabilities([row.features for row in new])
    return (
        float(roc_auc_score(~bad, close)),
        float(roc_auc_score(~bad, chance)),
        float(passed[~bad].mean()),
        float(passed[bad].mean()),
    )


# ---------------------------------------------------------------- three ways of teaching

_STATES: dict[
    int, tuple[torch.Tensor, torch.Tensor]
] = {}  # by an item's id: the pooler's input, odds


def by_head(known: Site, held_out: Site, _draw: int) -> Array:
    """A logistic regression on what the classifier sees of a claim's most entailing window."""
    model = close_model()[0]
    seen = [_pooled(model, site) for site in (known, held_out)]
    wanted = [row.supported_by_route for row in known.rows]
    head = LogisticRegression(C=0.01, class_weight="balanced", max_iter=2_000)
    return np.asarray(head.fit(seen[0], wanted).predict_proba(seen[1])[:, 1])


def by_last(known: Site, held_out: Site, draw: int) -> Array:
    """The pooler and the classifier taught further, all labels a step."""
    torch.manual_seed(draw)
    model = close_model()[0]
    layers = [model.bert.pooler.dense, model.classifier]
    for layer in layers:
        layer.requires_grad_(True)

    def logits(site: Site) -> torch.Tensor:
        return _classified(model, torch.cat([state for state, _ in _states(model, site)]))

    teach(model, known, lambda: logits(known), steps=40, rate=1e-4)
    with torch.no_grad():
        return _best(logits(held_out), held_out)


def by_lora(known: Site, held_out: Site, draw: int) -> Array:
    """Low-rank adapters of queries and values in the upper layers, and the classifier: two passes."""
    torch.manual_seed(draw)
    model = close_model()[0]
    model.classifier.requires_grad_(True)
    for layer in model.bert.encoder.layer[-LAYERS:]:
        for dense in (layer.attention.self.query, layer.attention.self.value):
            parametrize.register_parametrization(dense, "weight", LowRank(*dense.weight.shape))
    order = np.random.default_rng(draw)
    for _ in range(2):
        places = order.permutation(len(known.rows))
        for start in range(0, len(places), 12):
            some = known.pick(places[start : start + 12].tolist())
            teach(model, some, lambda some=some: _read(model, some), steps=1, rate=5e-4)
    with torch.no_grad():
        return np.concatenate([
            _best(_read(model, part), part)
            for start in range(0, len(held_out.rows), 32)
            for part in [held_out.pick(range(start, min(start + 32, len(held_out.rows))))]
        ])  # fmt: skip


class LowRank(torch.nn.Module):
    """A matrix with a thin product beside it, which is nothing at first."""

    def __init__(self, rows: int, columns: int) -> None:
        super().__init__()
        self.up = torch.nn.Parameter(torch.zeros(rows, RANK))
        self.down = torch.nn.Parameter(torch.randn(RANK, columns) / columns**0.5)

    def forward(self, weight: torch.Tensor) -> torch.Tensor:
        """The sum of both."""
        return weight + self.up @ self.down


def teach(
    model: Any, site: Site, logits: Callable[[], torch.Tensor], steps: int, rate: float
) -> None:
    """Steps of the loss of claims; both labels weigh the same together."""
    if not hasattr(model, "steps"):
        free = [one for one in model.parameters() if one.requires_grad]
        model.steps = torch.optim.AdamW(free, lr=rate, weight_decay=0.01)
        good = np.mean([row.supported_by_route for row in site.rows])
        model.weight = {True: 0.5 / max(good, 0.05), False: 0.5 / max(1.0 - good, 0.05)}
    for _ in range(steps):
        model.steps.zero_grad()
        loss = claim_loss(
            logits(),
            [len(items) for items in site.items],
            [row.supported_by_route for row in site.rows],
            model.weight,
        )
        (loss / len(site.rows)).backward()
        model.steps.step()


def _read(model: Any, site: Site) -> torch.Tensor:
    batch = collate([item for items in site.items for item in items], CPU)
    return pair_logits(
        model,
        batch.input_ids,
        batch.token_type_ids,
        batch.attention_mask,
        torch.bfloat16 if has_bf16() else torch.float32,
    ).float()


def _states(model: Any, site: Site) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """By claim, what the untaught model's pooler is given of each window, and its logits; read once."""
    found = []
    for items in site.items:
        if id(items) not in _STATES:
            heard: list[torch.Tensor] = []
            hook = model.bert.pooler.dense.register_forward_pre_hook(
                lambda _m, given, heard=heard: heard.append(given[0].detach())
            )
            with torch.no_grad():
                said = _read(model, Site(rows=(), items=[items]))
            hook.remove()
            _STATES[id(items)] = heard[0], said
        found.append(_STATES[id(items)])
    return found


def _classified(model: Any, states: torch.Tensor) -> torch.Tensor:
    logits: torch.Tensor = model.classifier(torch.tanh(model.bert.pooler.dense(states)))
    return logits


def _pooled(model: Any, site: Site) -> Array:
    with torch.no_grad():
        return np.stack([
            torch.tanh(model.bert.pooler.dense(state[int(said.softmax(-1)[:, 0].argmax())])).numpy()
            for state, said in _states(model, site)
        ])  # fmt: skip


def _best(logits: torch.Tensor, site: Site) -> Array:
    """Each claim's best entailment over its windows, as the product takes it."""
    chances = torch.split(logits.softmax(-1)[:, 0], [len(items) for items in site.items])
    return np.array([float(one.max()) for one in chances])
