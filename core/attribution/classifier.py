"""Whether a sentence credits the source that it names, learned from sentences (III.2).

The ways of ``credits`` are exact about where a credit stands and what can be left out; they cannot
know every verb. A logistic model over the words around a source's name reads the rest: it was
fitted by ``training/attribution_classifier.py`` of c22b351 on original sentences, with and without credit.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources

from core.errors import ConfigError
from core.records import Span

WEIGHTS_FILE = "classifier_weights.json"
FORMAT = "provenanceguard-credit-weights"
_TOKEN = re.compile(r"\d+|\w+|[^\w\s]")
_CLAUSE_END = re.compile(r"[,;:()\u2013\u2014]")
_POINTS = re.compile(r"[,;:()\u2013\u2014\[\]\"“”]")
_ENDINGS = ("ing", "ed", "es", "ly", "tion", "s")
NEAR = 4  # words on either side that count by their place


@dataclass(frozen=True, slots=True, kw_only=True)
class CreditWeights:
    """A fitted model: P(credit) = 1 / (1 + exp(-(bias + Σ weights of the marks)))."""

    bias: float
    threshold: float
    weights: Mapping[str, float]

    def probability(self, text: str, name: Span) -> float:
        """P(the sentence credits the source that stands at ``name``)."""
        total = self.bias + sum(self.weights.get(mark, 0.0) for mark in marks(text, name))
        return 1.0 / (1.0 + math.exp(-total)) if total > -700 else 0.0


def marks(text: str, name: Span) -> frozenset[str]:
    """What is seen of a sentence around the name of a source: words by place, shapes, points."""
    before, after = text[: name.start], text[name.end :]
    left, right = _tokens(before), _tokens(after)
    own = _tokens(name.cut(text)) or [""]
    found = {
        "opens" if not left else "inside",
        "ends" if not right or right == ["."] else "goes on",
        f"left {min(len(left) // 2, 6)}",
        f"right {min(len(right) // 3, 6)}",
        f"last {own[-1]}",
        f"begins {((left + ['§']) if left else ['§', *right])[0]}",
        f"begins {' '.join([*left, '§', *right][:2])}",
        "number behind" if any(token.isdigit() for token in right) else "no number behind",
        "number before" if any(token.isdigit() for token in left) else "no number before",
    }
    if after.rstrip().endswith("?"):
        found.add("?")
    for size in (1, 2, 3):
        if len(left) >= size:
            found.add(f"<{size} {' '.join(left[-size:])}")
        if len(right) >= size:
            found.add(f">{size} {' '.join(right[:size])}")
    found |= {f"< {token}" for token in left[-NEAR:]} | {f"> {token}" for token in right[:NEAR]}
    found |= {f"word {token}" for token in (*left, *right)} | {f"name {token}" for token in own}
    found |= {f"<~ {' '.join(map(_shape, left[-size:]))}" for size in (1, 2) if len(left) >= size}
    found |= {f">~ {' '.join(map(_shape, right[:size]))}" for size in (1, 2) if len(right) >= size}
    found |= {f">>~ {_shape(token)}" for token in right[1:2]}
    clause = _tokens(_CLAUSE_END.split(after)[0])
    found |= {f"clause {token}" for token in clause}
    found |= {f"clause~ {_shape(token)}" for token in clause[:NEAR]}
    found |= {f"part {token}" for token in _tokens(_CLAUSE_END.split(before)[-1])}
    found |= {f"point< {point}" for point in _POINTS.findall(before)}
    found |= {f"point> {point}" for point in _POINTS.findall(after)}
    return frozenset(found)


def _tokens(text: str) -> list[str]:
    return _TOKEN.findall(text.casefold())


def _shape(token: str) -> str:
    """A word as what it may be in a sentence: short ones as they are, others by their ending."""
    if token.isdigit():
        return "9"
    if len(token) > 4:
        ending = next((ending for ending in _ENDINGS if token.endswith(ending)), None)
        if ending is not None:
            return "-" + ending
    return token if len(token) <= 3 else "x"


def read_weights(text: str, place: str) -> CreditWeights:
    """The model of a JSON text; ConfigError names ``place`` and what is wrong with it."""
    try:
        document = json.loads(text)
    except ValueError as error:
        raise ConfigError(f"{place}: not valid JSON: {error}") from error
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ConfigError(f"{place}: format: expected {FORMAT!r}")
    weights = document.get("weights")
    numbers = [document.get("bias"), document.get("threshold")]
    if not isinstance(weights, dict) or not all(
        isinstance(value, int | float) and math.isfinite(value)
        for value in [*numbers, *weights.values()]
    ):
        raise ConfigError(f"{place}: expected the numbers bias and threshold, and weights by mark")
    return CreditWeights(
        bias=float(document["bias"]),
        threshold=float(document["threshold"]),
        weights={str(mark): float(value) for mark, value in weights.items()},
    )


@lru_cache(maxsize=1)
def load_weights() -> CreditWeights:
    """The packaged model."""
    packaged = resources.files("core.attribution").joinpath(WEIGHTS_FILE)
    return read_weights(packaged.read_text(encoding="utf-8"), WEIGHTS_FILE)
