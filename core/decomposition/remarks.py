"""What a stretch sounds like, learned from sentences: a fact, or a remark that asserts none (III.2).

A multinomial logistic model over words by their place; it was fitted by
``training/remark_classifier.py`` of c22b351. It may only set aside what `claim_type` finds no fact in.
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
from core.records import ClaimType

WEIGHTS_FILE = "remark_weights.json"
FORMAT = "provenanceguard-remark-weights"
LIKELY = 0.7  # P(fact)
_TOKEN = re.compile(r"\d+|[^\W\d]+(?:['’][a-z]+)?|[^\w\s]")
_LONGEST = 60  # tokens
_LABEL = re.compile(r"[^:.!?\n]{1,60}[:–—-]\s+(?=\S)")
_ENDINGS = ("ing", "ed", "ly", "s")
_PERSONS = frozenset("i we you i'm i've i'll i'd we've we'll you'll you're my our your".split())


@dataclass(frozen=True, slots=True, kw_only=True)
class RemarkWeights:
    """A fitted model: one bias and one weight of each mark per kind, and the threshold to set aside."""

    kinds: tuple[ClaimType, ...]
    bias: tuple[float, ...]
    threshold: float
    weights: Mapping[str, tuple[float, ...]]

    def probabilities(self, text: str) -> Mapping[ClaimType, float]:
        """P(kind) of each kind; they sum to one."""
        totals = list(self.bias)
        for mark in marks(text):
            for place, weight in enumerate(self.weights.get(mark, ())):
                totals[place] += weight
        top = max(totals)
        powers = [math.exp(total - top) for total in totals]
        return {kind: power / sum(powers) for kind, power in zip(self.kinds, powers, strict=True)}


def marks(text: str) -> frozenset[str]:
    """What is seen of a stretch: its first words by place, all words and pairs, and its shape."""
    tokens = _tokens(text)
    label = _LABEL.match(text)
    behind = _tokens(text[label.end() :]) if label is not None else tokens
    found = {f"length {min(len(tokens) // 3, 8)}", "labelled" if label is not None else "bare"}
    for place, token in enumerate(behind[:3], start=1):
        found |= {f"{place} {token}", f"{place}~ {_shape(token)}"}
    if len(behind) > 1:
        found |= {f"1-2 {behind[0]} {behind[1]}", f"1-2~ {behind[0]} {_shape(behind[1])}"}
    found |= {f"opens {tokens[0]}"} if tokens else set()
    found |= {f"word {token}" for token in behind}
    found |= {f"pair {one} {other}" for one, other in zip(behind, behind[1:], strict=False)}
    if not _PERSONS & set(behind):
        found.add("nobody")
    if text.rstrip().endswith("!"):
        found.add("!")
    return frozenset(found)


def remark_kind(text: str) -> ClaimType | None:
    """The kind of remark that the text surely is; None where it may be a fact."""
    weights = shipped_weights()
    found = weights.probabilities(text)
    if 1.0 - found[ClaimType.FACTUAL] < weights.threshold:
        return None
    return max((kind for kind in found if kind is not ClaimType.FACTUAL), key=lambda k: found[k])


def sounds_factual(text: str) -> bool:
    """Whether the text is likely a fact, however it opens."""
    return shipped_weights().probabilities(text)[ClaimType.FACTUAL] >= LIKELY


@lru_cache(maxsize=1)
def shipped_weights() -> RemarkWeights:
    """The weights that come with the package."""
    text = resources.files(__package__).joinpath(WEIGHTS_FILE).read_text(encoding="utf-8")
    return read_weights(text, WEIGHTS_FILE)


def read_weights(text: str, path: str) -> RemarkWeights:
    """Weights from their document; ConfigError names the file when it is another or damaged."""
    try:
        document = json.loads(text)
        if document["format"] != FORMAT:
            raise ValueError(f"expected format {FORMAT}, found {document['format']!r}")
        kinds = tuple(ClaimType(kind) for kind in document["kinds"])
        weights = {
            str(mark): tuple(float(weight) for weight in row)
            for mark, row in document["weights"].items()
        }
        made = RemarkWeights(
            kinds=kinds,
            bias=tuple(float(value) for value in document["bias"]),
            threshold=float(document["threshold"]),
            weights=weights,
        )
        rows = [made.bias, *weights.values()]
        if any(len(row) != len(kinds) or not all(map(math.isfinite, row)) for row in rows):
            raise ValueError("expected one finite number per kind in every row")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ConfigError(f"{path}: {error}") from error
    return made


def _tokens(text: str) -> list[str]:
    folded = text.casefold().replace("’", "'")
    return [token for token, _ in zip(_TOKEN.findall(folded), range(_LONGEST), strict=False)]


def _shape(token: str) -> str:
    if token.isdigit():
        return "0"
    if not token[0].isalpha():
        return token
    ending = next((each for each in _ENDINGS if token.endswith(each) and len(token) > 4), "")
    return f"{'short' if len(token) < 4 else 'long'} {ending}"
