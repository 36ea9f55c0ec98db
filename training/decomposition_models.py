"""Fit the models that say where a sentence is cut, and what goes in front of a statement (III.2).

    python -m training.decomposition_models [--shared FOLDER] [--out FOLDER]

FOLDER holds the reference answers. A cut is right where a claim that was read by hand begins and
another one says what is before it. A context is right by the share of its terms that the claim holds.
``python -m bench decomposition --cross-validated`` measures with models that had not seen the answer.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor
from sklearn.feature_extraction import DictVectorizer

from core.capture.reading import read_traces
from core.config import Config
from core.decomposition.claims import decompose
from core.decomposition.contexts import Candidate, Fragment
from core.decomposition.cuts import Cut, candidates, scene_of
from core.decomposition.learned import CONTEXTS_FILE, CUTS_FILE, Learned
from core.decomposition.markdown import BlockKind, blocks, masked
from core.decomposition.trees import FORMAT, Trees, read_trees
from core.errors import InputError
from core.records import Span, Trace
from core.text.sentences import sentence_spans
from core.text.tokens import content_terms

TRACES = ("traces/livemcpbench_chat.jsonl.gz", "traces/clinical_native.jsonl.gz")
SEED = 20261126
FOLDS = 5
CUT_FROM = 0.5  # probability from which on a cut is made; below it nobody can read what is left
GAIN_FROM = 0.03  # expected agreement that a context must add
SAME_PLACE = 0.5  # overlap over union of a statement's place with that of its claim
Row = tuple[Mapping[str, float], float, float]  # what is seen, what is right, the weight


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """A reference answer: its trace, the claims read by hand, and how far it was read."""

    trace: Trace
    texts: Sequence[str]
    places: Sequence[Span]
    read_until: int

    @property
    def half(self) -> str:
        """ "tune" or "held_out", by the trace's id alone."""
        return "tune" if self._digest[0] % 2 else "held_out"

    @property
    def unread(self) -> bool:
        """Whether nobody looked at what the rules make of the answer."""
        return self.half == "held_out" and self._digest[1] % 2 == 1

    @property
    def kind(self) -> str:
        """ "clinical" or "mcp"."""
        return "clinical" if self.trace.trace_id.startswith("clin") else "mcp"

    def fold(self, folds: int) -> int:
        """The part of the answers that it belongs to, by the trace's id alone."""
        return int.from_bytes(self._digest[2:6], "big") % folds

    @property
    def _digest(self) -> bytes:
        return hashlib.sha256(self.trace.trace_id.encode()).digest()


def references(folder: Path) -> Iterator[Reference]:
    """The reference answers with their traces; InputError for a trace that cannot be read."""
    traces = {}
    for found in read_traces([folder / name for name in TRACES]):
        if isinstance(found, InputError):
            raise found
        traces[found.trace_id] = found
    path = folder / "decomposition" / "dev_claims.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            yield Reference(
                trace=traces[row["trace_id"]],
                texts=[claim["text"] for claim in row["claims"]],
                places=[Span(start=c["span"][0], end=c["span"][1]) for c in row["claims"]],
                read_until=row["labelled_until"],
            )


@dataclass(slots=True)
class Rows:
    """What both models are taught of one answer."""

    cuts: list[Row] = field(default_factory=list)
    contexts: list[Row] = field(default_factory=list)


class Observed:
    """Stands where the models do: takes note of what is asked, and cuts where the reference does."""

    def __init__(self, one: Reference) -> None:
        self.one, self.rows = one, Rows()

    def cuts(self, text: str, within: Span, scene: Mapping[str, float], at: int) -> Sequence[Cut]:
        """The cuts that the reference makes in a stretch."""
        chosen = []
        for cut in candidates(text, within, scene):
            right = _is_right(self.one, cut, at)
            chosen += [cut] if right else []
            if at + cut.right < self.one.read_until:
                self.rows.cuts.append((cut.seen, float(right), 1.0))
        return chosen

    def contexts(self, fragment: Fragment, place: Span) -> Sequence[Candidate]:
        """Nothing; a row for each candidate where a claim is said at the place."""
        overlap, meant = max(
            ((_overlap(each, place), at) for at, each in enumerate(self.one.places)),
            default=(0.0, 0),
        )
        if overlap < SAME_PLACE:
            return []
        wanted = content_terms(self.one.texts[meant])
        for one in fragment.offered:
            new = one.terms - fragment.terms
            share = len(new & wanted) / len(new)
            self.rows.contexts.append((fragment.seen(one), share, math.sqrt(len(new))))
        return []


def _overlap(one: Span, other: Span) -> float:
    both = min(one.end, other.end) - max(one.start, other.start)
    return max(0, both) / (max(one.end, other.end) - min(one.start, other.start))


def _is_right(one: Reference, cut: Cut, at: int) -> bool:
    """Whether a claim begins behind the cut, within a word, and another one says what is before it."""
    answer, left, right = one.trace.answer or "", at + cut.left, at + cut.right
    word = re.match(r"(?:\S+\s+)?\S{0,4}", answer[right : right + 80])
    reach = right + min(len(word.group()) if word is not None else 0, 12)
    behind = [each for each in one.places if left <= each.start <= reach and each.end > right + 2]
    return bool(behind) and any(
        each not in behind
        and each.start < left
        and each.end >= max(at + 3, left - 399)
        and answer[max(at, each.start) : min(left, each.end)].strip(" *-")
        for each in one.places
    )


def rows_of(one: Reference) -> Rows:
    """What both models are taught of an answer: of what the rules leave to them, and of each whole
    sentence, whose other cuts the rules make."""
    observed = Observed(one)
    decompose(one.trace, Config(), None, observed)
    observed.rows.cuts += [
        (cut.seen, float(_is_right(one, cut, at)), 1.0)
        for at, cut in _whole_sentences(one)
        if at + cut.right < one.read_until
    ]
    return observed.rows


def _whole_sentences(one: Reference) -> Iterator[tuple[int, Cut]]:
    answer = one.trace.answer or ""
    for block in blocks(answer):
        if block.kind not in (BlockKind.ITEM, BlockKind.PARAGRAPH):
            continue
        for sentence in sentence_spans(block.span.cut(answer)):
            at = block.span.start + sentence.start
            text = masked(answer[at : block.span.start + sentence.end])
            if at < one.read_until:
                for cut in candidates(text, Span(start=0, end=len(text)), scene_of(text)):
                    yield at, cut


def fit(rows: Sequence[Rows]) -> Learned:
    """Both models, fitted to what the answers teach."""
    odds = math.log(CUT_FROM / (1 - CUT_FROM))
    return Learned(
        cut=_fitted([row for each in rows for row in each.cuts], True, odds),
        context=_fitted([row for each in rows for row in each.contexts], False, GAIN_FROM),
    )


def _fitted(rows: Sequence[Row], says: bool, threshold: float) -> Trees:
    vectors = DictVectorizer(sparse=False)
    seen = vectors.fit_transform([dict(row[0]) for row in rows])
    right = np.array([row[1] for row in rows])
    weight = np.array([row[2] for row in rows])
    common = {"n_estimators": 120, "subsample": 0.7, "random_state": SEED}
    if says:
        model = GradientBoostingClassifier(
            max_depth=4, learning_rate=0.07, min_samples_leaf=8, max_features=0.3, **common
        )
        share = float(np.average(right, weights=weight))
        start = math.log(share / (1 - share))
    else:
        model = GradientBoostingRegressor(
            max_depth=5, learning_rate=0.06, min_samples_leaf=15, max_features=0.2, **common
        )
        start = float(np.average(right, weights=weight))
    model.fit(seen, right, sample_weight=weight)
    document = {
        "format": FORMAT,
        "features": list(vectors.get_feature_names_out()),
        "start": round(start, 5),
        "threshold": round(threshold, 5),
        "trees": [_nodes(tree.tree_, model.learning_rate) for tree in model.estimators_[:, 0]],
    }
    return read_trees(json.dumps(document), "fitted")


def _nodes(tree: object, rate: float) -> list[list[float]]:
    """A fitted tree as nodes, numbers rounded; features are whole or shares, so cuts stay apart."""
    nodes = []
    for at in range(tree.node_count):  # type: ignore[attr-defined]
        left, right = int(tree.children_left[at]), int(tree.children_right[at])  # type: ignore[attr-defined]
        if left < 0:
            nodes.append([round(float(tree.value[at].ravel()[0]) * rate, 5)])  # type: ignore[attr-defined]
        else:
            limit = round(float(tree.threshold[at]), 5)  # type: ignore[attr-defined]
            nodes.append([int(tree.feature[at]), limit, left, right])  # type: ignore[attr-defined]
    return nodes


def written(trees: Trees) -> str:
    """A model as its document, a tree on a line; features that no tree asks for are left out."""
    used = sorted({int(node[0]) for tree in trees.trees for node in tree if len(node) > 1})
    place = {feature: at for at, feature in enumerate(used)}
    shown = [
        [
            [place[int(node[0])], node[1], int(node[2]), int(node[3])]
            if len(node) > 1
            else [node[0]]
            for node in tree
        ]
        for tree in trees.trees
    ]
    lines = ",\n".join(json.dumps(tree, separators=(",", ":")) for tree in shown)
    head = json.dumps(
        {
            "format": FORMAT,
            "features": [trees.features[feature] for feature in used],
            "start": trees.start,
            "threshold": trees.threshold,
        }
    )
    return f'{head[:-1]}, "trees": [\n{lines}\n]}}\n'


def cross_validated(found: Sequence[Reference]) -> Callable[[Reference], Learned]:
    """For each answer, models that were fitted to the answers of the other folds."""
    rows = [(one.fold(FOLDS), rows_of(one)) for one in found]
    models = [fit([each for fold, each in rows if fold != left]) for left in range(FOLDS)]
    return lambda one: models[one.fold(FOLDS)]


def main() -> None:
    """Fit both models to every reference answer and write their weights."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--shared", type=Path, default=Path("../shared/data"))
    parser.add_argument("--out", type=Path, default=Path("core/decomposition"))
    options = parser.parse_args()
    rows = [rows_of(one) for one in references(options.shared)]
    fitted = fit(rows)
    for name, trees in ((CUTS_FILE, fitted.cut), (CONTEXTS_FILE, fitted.context)):
        text = written(trees)
        read_trees(text, name)
        (options.out / name).write_text(text, encoding="utf-8")
        print(f"{name}: {len(trees.trees)} trees, {len(text)} characters")
    print(
        f"{sum(len(each.cuts) for each in rows)} cuts and "
        f"{sum(len(each.contexts) for each in rows)} contexts of {len(rows)} answers"
    )


if __name__ == "__main__":
    main()
