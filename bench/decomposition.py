"""How well answers are taken apart, against claims that were read by hand.

    python -m bench decomposition [FOLDER] [--cross-validated]
    python -m bench decomposition --authored answers.jsonl other.jsonl

FOLDER holds decomposition/dev_claims.jsonl.gz and the traces it names; ``../shared/data`` without it.
The halves are split by trace: rules and weights were made on "tune", and later on the misses of a part
of "held_out"; the answers that nobody read are counted by themselves. The shipped models of cuts and
contexts were fitted to all of them: what they do on an unseen answer is shown by --cross-validated.
--authored counts the claims that authors wrote beside their answers (``claims[].text`` of a record that
``verify`` reads): found is one with the same values and three quarters of the words of a claim of ours.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from bench.report import Cell, Report, share
from core.capture.reading import read_traces
from core.config import Config
from core.decomposition.claims import decompose
from core.decomposition.markdown import BlockKind, blocks
from core.errors import InputError
from core.evaluation.decomposition import found_claims, measure_decomposition
from core.records import Claim, ClaimType, Span
from core.text.sentences import sentence_spans
from training.decomposition_models import Reference, cross_validated, references

COLUMNS = ("half", "answers", "precision", "recall", "values exact", "claims set aside", "remarks")
AUTHORED = ("file", "authors' claims", "found", "our claims", "theirs too")
Read = tuple[Reference, list[Claim]]


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of this suite."""
    parser.add_argument("folder", nargs="?", type=Path, default=Path("../shared/data"))
    parser.add_argument("--cross-validated", action="store_true", help="by models of other answers")
    parser.add_argument(
        "--authored", nargs="+", type=Path, help="answers with their authors' claims"
    )


def run(options: argparse.Namespace) -> Report:
    """One line a half and kind of answer, what nobody read, and all."""
    if options.authored:
        return Report().table("", AUTHORED, (authored(path) for path in options.authored))
    found = list(references(options.folder))
    model = cross_validated(found) if options.cross_validated else lambda one: None
    read: list[Read] = []
    for one in found:
        claims = decompose(one.trace, Config(), None, model(one))
        read.append((one, [c for c in claims if c.span.start < one.read_until]))
    chosen = {f"{half}, {kind}": [(o, c) for o, c in read if (o.half, o.kind) == (half, kind)]
              for half in ("tune", "held_out") for kind in ("mcp", "clinical")}  # fmt: skip
    chosen |= {half: [(o, c) for o, c in read if o.half == half] for half in ("tune", "held_out")}
    chosen |= {"never read": [(o, c) for o, c in read if o.unread], "all": read}
    return Report().table("", COLUMNS, ((name, *figures(of)) for name, of in chosen.items()))


def figures(read: Sequence[Read]) -> tuple[Cell, ...]:
    """Precision, recall, exact values and both set-aside errors of some answers."""
    agreement = measure_decomposition(
        ([c.text for c in claims if c.claim_type is ClaimType.FACTUAL], one.texts)
        for one, claims in read
    )
    reference, lost, remarks, checked = set_aside(read)
    return (
        agreement.answers,
        agreement.precision,
        agreement.recall,
        agreement.value_exact,
        share(lost, reference),
        share(remarks - checked, remarks),
    )


def set_aside(read: Sequence[Read]) -> tuple[int, int, int, int]:
    """Claims read by hand, those that no factual claim covers, remarks, and those that became claims.

    A remark is a sentence of the read part in which no claim was read; headings are context and count
    on neither side.
    """
    reference = lost = remarks = checked = 0
    for one, claims in read:
        factual = [each.span for each in claims if each.claim_type is ClaimType.FACTUAL]
        reference += len(one.places)
        lost += sum(not _covered(place, factual) for place in one.places)
        for unit in claimless(one.trace.answer or "", one.read_until, one.places):
            remarks += 1
            checked += _covered(unit, factual)
    return reference, lost, remarks, checked


def authored(path: Path) -> tuple[Cell, ...]:
    """How many claims of one file's authors are found, and how many of ours they wrote too."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]
    wanted = {row["id"]: [claim["text"] for claim in row["claims"]] for row in rows}
    theirs = found = ours = right = 0
    for trace in read_traces([path]):
        if isinstance(trace, InputError):
            raise trace
        claims = [c.text for c in decompose(trace, Config()) if c.claim_type is ClaimType.FACTUAL]
        expected = wanted[trace.trace_id]
        theirs, ours = theirs + len(expected), ours + len(claims)
        found += found_claims(expected, claims)
        right += found_claims(claims, expected)
    return (
        f"{path.parent.name}/{path.name}",
        theirs,
        share(found, theirs),
        ours,
        share(right, ours),
    )


def claimless(answer: str, read_until: int, places: Sequence[Span]) -> list[Span]:
    """The sentences of the read part in which no reference claim is said."""
    found = []
    for block in blocks(answer):
        if block.kind in (BlockKind.HEADING, BlockKind.TABLE_HEAD, BlockKind.CODE):
            continue
        for sentence in sentence_spans(block.span.cut(answer)):
            start = block.span.start + sentence.start
            unit = Span(start=start, end=block.span.start + sentence.end)
            letters = sum(character.isalpha() for character in unit.cut(answer))
            said = any(unit.overlaps(place) for place in places)
            if unit.end <= read_until and letters >= 2 and not said:
                found.append(unit)
    return found


def _covered(place: Span, spans: Sequence[Span]) -> bool:
    """Whether the spans together cover at least half of the place."""
    held = {
        at for span in spans for at in range(max(place.start, span.start), min(place.end, span.end))
    }
    return 2 * len(held) >= place.end - place.start
