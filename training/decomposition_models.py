"""Fit the model that says where a sentence is cut (III.2).

    python -m training.decomposition_models [--shared FOLDER] [--out FOLDER]

FOLDER holds the reference answers. A cut is right where a claim that was read by hand begins and
another one says what is before it.
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
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.feature_extraction import DictVectorizer

from core.capture.reading import read_traces
from core.config import Config
from core.decomposition.claims import decompose
from core.decomposition.cuts import Cut, candidates, scene_of
from core.decomposition.learned import CUTS_FILE, Learned
from core.decomposition.markdown import BlockKind, blocks, masked
from core.decomposition.trees import FORMAT, Trees, read_trees
from core.errors import InputError
from core.records import Span, Trace
from core.text.sentences import sentence_spans

TRACES = ("traces/livemcpbench_chat.jsonl.gz", "traces/clinical_native.jsonl.gz")
SEED = 20261126
FOLDS = 5
CUT_FROM = 0.4  # probability from which on a cut is made
Row = tuple[Mapping[str, float], float]  # what is seen, what is right


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


class Observed:
    """Stands where the model does: takes note of what is asked, and cuts where the reference does."""

    def __init__(self, one: Reference) -> None:
        self.one, self.rows = one, list[Row]()

    def cuts(self, text: str, within: Span, scene: Mapping[str, float], at: int) -> Sequence[Cut]:
        """The cuts that the reference makes in a stretch."""
        chosen = []
        for cut in candidates(text, within, scene):
            right = _is_right(self.one, cut, at)
            chosen += [cut] if right else []
            if at + cut.right < self.one.read_until:
                self.rows.append((cut.seen, float(right)))
        return chosen


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


def rows_of(one: Reference) -> list[Row]:
    """What the model is taught of an answer: of what the rules leave to them, and of each whole
    sentence, whose other cuts the rules make."""
    observed = Observed(one)
    decompose(one.trace, Config(), None, observed)
    observed.rows += [
        (cut.seen, float(_is_right(one, cut, at)))
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


def fit(rows: Sequence[Row]) -> Learned:
    """The model, fitted to what the answers teach."""
    vectors = DictVectorizer(sparse=False)
    seen = vectors.fit_transform([dict(row[0]) for row in rows])
    right = np.array([row[1] for row in rows])
    model = GradientBoostingClassifier(
        max_depth=4, learning_rate=0.07, min_samples_leaf=8, max_features=0.3,
        n_estimators=120, subsample=0.7, random_state=SEED,
    )  # fmt: skip
    share = float(right.mean())
    model.fit(seen, right)
    document = {
        "format": FORMAT,
        "features": list(vectors.get_feature_names_out()),
        "start": round(math.log(share / (1 - share)), 5),
        "threshold": round(math.log(CUT_FROM / (1 - CUT_FROM)), 5),
        "trees": [_nodes(tree.tree_, model.learning_rate) for tree in model.estimators_[:, 0]],
    }
    return Learned(cut=read_trees(json.dumps(document), "fitted"))


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
    """For each answer, a model that was fitted to the answers of the other folds."""
    rows = [(one.fold(FOLDS), rows_of(one)) for one in found]
    models = [
        fit([row for fold, each in rows if fold != left for row in each]) for left in range(FOLDS)
    ]
    return lambda one: models[one.fold(FOLDS)]


def main() -> None:
    """Fit the model to every reference answer and write its weights."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--shared", type=Path, default=Path("../shared/data"))
    parser.add_argument("--out", type=Path, default=Path("core/decomposition"))
    options = parser.parse_args()
    rows = [row for one in references(options.shared) for row in rows_of(one)]
    text = written(fit(rows).cut)
    read_trees(text, CUTS_FILE)
    (options.out / CUTS_FILE).write_text(text, encoding="utf-8")
    print(f"{len(text)} characters, of {len(rows)} cuts")


if __name__ == "__main__":
    main()
