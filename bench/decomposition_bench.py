"""How well answers are taken apart, against claims that were read by hand.

    python bench/decomposition_bench.py [FOLDER] [--cross-validated]
    python bench/decomposition_bench.py --lines    # facts that look like remarks, and remarks like facts

FOLDER holds decomposition/dev_claims.jsonl.gz and the traces it names; ``../shared/data`` without it.
The halves are split by trace: rules and weights were made on "tune", and later on the misses of a part
of "held_out"; the answers that nobody read are counted by themselves. The shipped models of cuts and
contexts were fitted to all of them: what they do on an unseen answer is shown by --cross-validated.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(PROJECT))

from core.config import Config  # noqa: E402
from core.decomposition.claims import decompose  # noqa: E402
from core.decomposition.learned import Learned  # noqa: E402
from core.evaluation.decomposition import match_claims, measure_decomposition  # noqa: E402
from core.evaluation.set_aside import ReadAnswer, measure_set_aside  # noqa: E402
from core.records import Claim, ClaimType, Trace  # noqa: E402
from training.decomposition_references import Reference, references  # noqa: E402
from training.remark_classifier import AUTHORS, written  # noqa: E402


def read_claims(one: Reference, learned: Learned | None = None) -> list[Claim]:
    """What the decomposer makes of the part that was read, with its shipped models or with others."""
    claims = decompose(one.trace, Config(), None, learned)
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


def lines_set_aside() -> Iterator[str]:
    """By author of `training/remark_authors`: how many facts are set aside, and how many remarks."""
    for path in sorted(AUTHORS.glob("*.txt")):
        found = Counter(
            (one.kind is ClaimType.FACTUAL, bool(_factual(decompose(_alone(one.text), Config()))))
            for one in written(path, bare=False)
        )
        facts, remarks = (found[so, True] + found[so, False] for so in (True, False))
        yield (
            f"{path.stem}  facts set aside {found[True, False]} of {facts}  "
            f"remarks set aside {found[False, False]} of {remarks}"
        )


def _alone(text: str) -> Trace:
    answer = f"- {text}" if text.startswith("**") else text  # a label in bold stands in a list
    return Trace(trace_id="line", question="", answer=answer, sources=())


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
    parser.add_argument(
        "--cross-validated", action="store_true",
        help="with models of cuts and contexts that were not fitted to the answer",
    )  # fmt: skip
    parser.add_argument("--lines", action="store_true", help="the lines of training/remark_authors")
    options = parser.parse_args()
    if options.lines:
        print("\n".join(lines_set_aside()))
        return
    found = list(references(options.folder))
    if options.cross_validated:
        from training.decomposition_models import cross_validated  # a learning library

        model = cross_validated(found)
        read = [(one, read_claims(one, model(one))) for one in found]
    else:
        read = [(one, read_claims(one)) for one in found]
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
