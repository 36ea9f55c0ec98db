"""How well answers are taken apart, against claims that were read by hand.

    python bench/decomposition_bench.py [FOLDER]

FOLDER holds decomposition/dev_claims.jsonl.gz and the traces it names; ``../shared/data`` without it.
The halves are split by trace: rules and weights were made on "tune", and later on the misses of a part
of "held_out"; the answers that nobody read are counted by themselves.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(PROJECT))

from core.capture.reading import read_traces  # noqa: E402
from core.config import Config  # noqa: E402
from core.decomposition.claims import decompose  # noqa: E402
from core.errors import InputError  # noqa: E402
from core.evaluation.decomposition import match_claims, measure_decomposition  # noqa: E402
from core.evaluation.set_aside import ReadAnswer, measure_set_aside  # noqa: E402
from core.records import Claim, ClaimType, Span, Trace  # noqa: E402

TRACES = ("traces/livemcpbench_chat.jsonl.gz", "traces/clinical_native.jsonl.gz")


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
        digest = hashlib.sha256(self.trace.trace_id.encode()).digest()
        return "tune" if digest[0] % 2 else "held_out"

    @property
    def unread(self) -> bool:
        """Whether nobody looked at what the rules make of the answer."""
        digest = hashlib.sha256(self.trace.trace_id.encode()).digest()
        return self.half == "held_out" and digest[1] % 2 == 1

    @property
    def kind(self) -> str:
        """ "clinical" or "mcp"."""
        return "clinical" if self.trace.trace_id.startswith("clin") else "mcp"


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


def read_claims(one: Reference) -> list[Claim]:
    """What the decomposer makes of the part that was read."""
    claims = decompose(one.trace, Config())
    return [claim for claim in claims if claim.span.start < one.read_until]


def figures(chosen: Sequence[tuple[Reference, Sequence[Claim]]]) -> str:
    """Precision, recall, exact values and both set-aside errors of some answers, as one line."""
    agreement = measure_decomposition((_factual(claims), one.texts) for one, claims in chosen)
    aside = measure_set_aside(
        ReadAnswer(
            answer=one.trace.answer or "",
            read_until=one.read_until,
            places=one.places,
            claims=claims,
        )
        for one, claims in chosen
    )
    lost = aside.claims_set_aside / max(1, aside.reference)
    kept = 1 - aside.remarks_checked / max(1, aside.remarks)
    return (
        f"{agreement.answers:3d} answers  precision {agreement.precision or 0:.3f}  "
        f"recall {agreement.recall or 0:.3f}  values exact {agreement.value_exact or 0:.3f}  "
        f"claims set aside {aside.claims_set_aside} of {aside.reference} ({lost:.2%})  "
        f"remarks set aside {aside.remarks - aside.remarks_checked} of {aside.remarks} ({kept:.1%})"
    )


def _factual(claims: Sequence[Claim]) -> list[str]:
    return [claim.text for claim in claims if claim.claim_type is ClaimType.FACTUAL]


def show(one: Reference, claims: Sequence[Claim]) -> None:
    """Claims that no reference matches (+), references that no claim matches (-)."""
    said = _factual(claims)
    pairs = match_claims(said, one.texts)
    print("=" * 20, one.trace.trace_id, one.trace.question[:160])
    matched, wanted = {i for i, _ in pairs}, {j for _, j in pairs}
    rows = [(c.span.start, "+", c.text) for i, c in enumerate(
        c for c in claims if c.claim_type is ClaimType.FACTUAL) if i not in matched]  # fmt: skip
    rows += [(c.span.start, "o", c.text) for c in claims if c.claim_type is not ClaimType.FACTUAL]
    rows += [
        (one.places[j].start, "-", one.texts[j]) for j in range(len(one.texts)) if j not in wanted
    ]
    for at, mark, text in sorted(rows):
        print(f"{at:5d} {mark} {text[:300]}")


def main() -> None:
    """Print the figures of both halves and of both kinds of answers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=PROJECT.parent / "shared" / "data")
    parser.add_argument("--show", choices=("tune", "held_out"), default=None)
    options = parser.parse_args()
    read = [(one, read_claims(one)) for one in references(options.folder)]
    if options.show:
        for one, claims in read:
            if one.half == options.show:
                show(one, claims)
    for half in ("tune", "held_out"):
        for kind in ("mcp", "clinical"):
            rows = [(o, c) for o, c in read if o.half == half and o.kind == kind]
            print(f"{half:8s} {kind:8s} {figures(rows)}")
    for half in ("tune", "held_out"):
        print(f"{half:17s} {figures([(o, c) for o, c in read if o.half == half])}")
    print(f"{'never read':17s} {figures([(o, c) for o, c in read if o.unread])}")
    print(f"{'all':17s} {figures(read)}")


if __name__ == "__main__":
    main()
