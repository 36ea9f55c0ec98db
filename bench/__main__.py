"""``python -m bench SUITE``: every measurement by one command."""

from __future__ import annotations

import argparse
import sys

from bench import diff, pairs

SUITES = {"pairs": pairs, "diff": diff}


def main(arguments: list[str] | None = None) -> int:
    """Run the suite that is named; what comes back is the exit code."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    suites = parser.add_subparsers(dest="suite", required=True)
    for name, module in SUITES.items():
        about = (module.__doc__ or "").strip()
        suite = suites.add_parser(
            name,
            help=about.splitlines()[0],
            description=about,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.add_options(suite)
    options = parser.parse_args(arguments)
    return SUITES[options.suite].run(options)


if __name__ == "__main__":
    sys.exit(main())
