"""Whether a file that an answer says was made was made: a call that succeeded wrote to just that path.

An action is shown by the call that did it (evidence.md, section 1). Only files are told so: their path
stands in the call as it stands in the claim. Everything else of the claim must be what the call was
asked for, what the written text is called, or a word of making and keeping files.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from core.evidence.calls import argument_leaves
from core.evidence.words import stems
from core.records import Check, Claim, FactPlace, Outcome, Source, SourceStatus

SAVED = "saved"  # the check that a file was made as the claim says
_PATH = re.compile(
    r"(?<![\w/])(?:[\w.~-]*/)*[\w.~-]+\.[A-Za-z][A-Za-z0-9]{0,5}(?!\w)|(?<![\w/])(?:/[\w.~-]+)+/?"
)
_MADE = re.compile(
    r"\b(?:saved|created|wrote|written|generated|stored|located|placed|exported|produced|made|available)\b",
    re.IGNORECASE,
)
_NOT = re.compile(
    r"\b(?:not|never|no|without|could|unable|fail\w*|attempt\w*|tried|only|all|every|each|both|before|after|"
    r"again|also|then)\b|n['’]t\b",
    re.IGNORECASE,
)
_WRITES = re.compile(
    r"write|save|create|export|generat|append|\bput\b|upload|convert|produce|render|store|plot|"
    r"to_(?:csv|excel|pdf|file)|savefig|\bopen\([^)]*[\"'][wa]b?[\"']",
    re.IGNORECASE,
)
_FAILED = re.compile(
    r"\b(?:error|failed|failure|traceback|exception|denied|timed out|not found|cannot|could not|invalid|"
    r"no such)\b",
    re.IGNORECASE,
)
_FRONT = 300  # characters of an output that say how the call ended
_ASKED = 300  # of an argument that asks for something; a longer one is a text
_TITLE_LINES = 4
_TITLE = re.compile(r"<(?:h1|title)\b[^>]*>(.*?)<", re.IGNORECASE | re.DOTALL)
_MAKING = stems(
    "agent file files document report presentation page webpage web template tutorial mindmap chart "
    "image pdf markdown md excel powerpoint csv html png jpg docx xlsx pptx json txt word summary note "
    "table plot save saved create created write wrote written generate generated store stored locate "
    "located place placed export exported produce produced make made available complete full folder "
    "directory detailed comprehensive successfully titled named called format final new requested"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Writing:
    """A call that succeeded in writing: its paths, and the words of what it was asked and wrote on top."""

    source_id: str
    paths: frozenset[str]
    words: frozenset[str]


def read_writings(sources: Iterable[Source]) -> tuple[Writing, ...]:
    """The calls of a trace that wrote a file and did not fail."""
    return tuple(_writings(sources))


def _writings(sources: Iterable[Source]) -> Iterator[Writing]:
    for source in sources:
        ended_well = source.status in (SourceStatus.OK, SourceStatus.TRUNCATED)
        if not ended_well or _FAILED.search(source.text[:_FRONT]) is not None:
            continue
        leaves = [leaf for _, leaf in argument_leaves(source.arguments)]
        asked = " ".join([source.tool_name, *(leaf for leaf in leaves if len(leaf) <= _ASKED)])
        texts = [leaf.replace("\\n", "\n") for leaf in leaves if len(leaf) > _ASKED]
        if not texts and _WRITES.search(asked) is None:
            continue
        if texts and not any(
            _WRITES.search(each) for each in (asked, *texts, source.text[:_FRONT])
        ):
            continue
        titles = [line for text in texts for line in text.splitlines()[:_TITLE_LINES]]
        titles += [title for text in texts for title in _TITLE.findall(text)[:2]]
        paths = frozenset(match.group() for leaf in leaves for match in _PATH.finditer(leaf))
        yield Writing(
            source_id=source.source_id,
            paths=paths,
            words=stems(f"{asked} {' '.join(titles)} {source.text[:_FRONT]}"),
        )


def check_saved(claim: Claim, writings: Iterable[Writing]) -> Check | None:
    """A check that a call wrote the file that the claim says was made; None for other claims."""
    text = claim.text
    paths = [match.group() for match in _PATH.finditer(text)]
    if len(paths) != 1 or _MADE.search(text) is None or _NOT.search(text) is not None:
        return None
    (path,) = paths
    left = stems(text.replace(path, " ")) - _MAKING
    for writing in writings:
        named = any(each == path or _is_within(path, each) for each in writing.paths)
        if named and left <= writing.words:
            return Check(
                check=SAVED,
                outcome=Outcome.SUPPORTS,
                reason=f"A call that succeeded wrote {path}.",
                facts=(FactPlace(source_id=writing.source_id, span=None),),
                binding=1.0,
            )
    return None


def _is_within(path: str, written: str) -> bool:
    """Whether a bare name or a folder of the claim is that of the path that was written."""
    return written.endswith(f"/{path}") or written.startswith(f"{path.rstrip('/')}/")
