"""``python -m bench SUITE [options]``: every measurement by one command; ``SUITE --help`` says more."""

from __future__ import annotations

import argparse
import importlib
import sys
from pathlib import Path

SUITES = {
    "pairs": "short answers, false and true: how many are allowed, by kind",
    "diff": "two checkouts over the same data: what differs, claim by claim",
    "texts": "answers and charts by authors who had not seen the rules, judged by the whole product",
    "sealed": "the labelled answers that are opened once a release",
    "nli": "the NLI model alone on pairs by authors it did not learn from, and the distortion checks",
    "public_sets": "NLI models on public sets of grounding that none of ours was taught",
    "checks": "what each kind of check says of good and of bad claims",
    "decomposition": "how well answers are taken apart, against claims read by hand",
    "citation_correction": "wrong citations put right, and what each stage of that is worth",
    "eval_citations": "each stage of claim-level citations, on labels by others",
    "reading_order": "how soon the review queue's order finds the errors of labelled packets",
    "parts": "what the NLI model, the checks, a warm verifier and the threshold slider take",
    "review": "how long the workbench keeps people waiting, with 100,000 claims",
    "load": "callers at a rate, and slow connections, against serve http",
    "million_claims": "memory over a million claims",
    "tamper": "only the database file is written: what is noticed, table by table",
    "hidden_statements": "false statements hidden by form: how many are allowed",
}


def main(arguments: list[str] | None = None) -> int:
    """Run the suite that is named; what comes back is the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m bench",
        description=__doc__,
        epilog="\n".join(f"{name:18}{about}" for name, about in SUITES.items()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("suite", choices=SUITES, metavar="SUITE")
    parser.add_argument("options", nargs=argparse.REMAINDER)
    given = parser.parse_args(arguments)
    sys.path.append(str(Path(__file__).resolve().parents[1] / "tests"))  # some need its databases
    module = importlib.import_module(f"bench.{given.suite}")
    suite = argparse.ArgumentParser(
        prog=f"python -m bench {given.suite}",
        description=module.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    module.add_options(suite)
    suite.add_argument("--json", type=Path, metavar="FILE", help="the report as JSON too")
    options = suite.parse_args(given.options)
    code: int = module.run(options).write(options.json)
    return code


if __name__ == "__main__":
    sys.exit(main())
