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
from core.errors import InputError
from core.evaluation.decomposition import found_claims, measure_decomposition
from core.evaluation.set_aside import ReadAnswer, measure_set_aside
from core.records import Claim, ClaimType
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
    aside = measure_set_aside(
        ReadAnswer(
            answer=one.trace.answer or "",
            read_until=one.read_until,
            places=one.places,
            claims=claims,
        )
        for one, claims in read
    )
    return (
        agreement.answers,
        agreement.precision,
        agreement.recall,
        agreement.value_exact,
        share(aside.claims_set_aside, aside.reference),
        share(aside.remarks - aside.remarks_checked, aside.remarks),
    )


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
