"""The windows that the product reads for each labelled claim of whole answers.

    python -m training.claim_windows PACKETS --out claims.jsonl [--kept FOLDER] [--close]

A claim of a real answer has no premise: it has sources, of which the pipeline chooses a few windows.
What an NLI model is taught here, it meets in the very shape in which it will be asked: with
``--close`` the claim's focused premise in each source (`core.verification.premise`), the most of
its words first.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from core.config import Config
from core.evaluation.frozen import freeze
from core.evaluation.packets import PacketRow
from core.evaluation.scoring import score_rows
from core.evidence.words import stems
from core.ports import NliModel, Progress
from core.records import Claim, NliScore, VerdictLabel
from core.verification.candidates import Case, rank_claim
from core.verification.prepare import Models, OpenTrace, embed_window, open_trace
from training.development import measured_models, trainable


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """What was read of a source beside what claim, and how far it entailed it then (0 to 1); of what is
    closest, the share of the claim's words that stand in it."""

    premise: str
    hypothesis: str
    entailment: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledClaim:
    """A claim's label and its windows, the most entailing first."""

    claim_id: str
    trace_id: str
    packet: str
    supported: bool
    windows: tuple[Window, ...]


class _Listening:
    """An NLI model that notes what it is asked; fills `core.ports.NliModel`."""

    def __init__(self, nli: NliModel) -> None:
        self.nli, self.name, self.precision = nli, nli.name, nli.precision
        self.max_tokens = nli.max_tokens
        self.heard: dict[tuple[str, str], float] = {}

    def read(self, pairs: Sequence[tuple[str, str]]) -> list[NliScore | None]:
        found = self.nli.read(pairs)
        for pair, nli_score in zip(pairs, found, strict=True):
            if nli_score is not None:
                self.heard[pair] = nli_score.probabilities.entailment
        return found


def opened_claims(
    rows: Iterable[PacketRow], models: Models, config: Config
) -> Iterator[tuple[OpenTrace, Claim]]:
    """Yield each row's claim and trace; rows with the same sources share what was read from them."""
    before: OpenTrace | None = None
    for row in rows:
        trace, claim = freeze(row, models.families)
        same = before if before is not None and before.trace.sources == trace.sources else None
        before = open_trace(trace, (claim,), models, config, same)
        yield before, claim


def opened_cases(
    rows: Iterable[PacketRow], models: Models, config: Config
) -> Iterator[tuple[OpenTrace, Case]]:
    """The same with each claim ranked and narrowed to what is read for it."""
    for one, claim in opened_claims(rows, models, config):
        yield one, rank_claim(claim, one, embed_window([one], models.embedder), config)


def labelled_claims(
    packets: Sequence[Path], models: Models, config: Config, progress: Progress | None = None
) -> Iterator[LabelledClaim]:
    """Yield every labelled claim with the windows that the pipeline has its NLI model read for it."""
    listening = _Listening(models.nli)
    heard_by = replace(models, nli=listening)
    for path in packets:
        rows = trainable(path)
        for number, row in enumerate(rows, 1):
            listening.heard = {}
            score_rows([row], heard_by, config)
            windows = [Window(premise=p, hypothesis=h, entailment=e)
                       for (p, h), e in listening.heard.items()]  # fmt: skip
            yield _labelled(row, path, windows)
            if progress:
                progress(number, len(rows), f"claims of {path.name}")


def focused_claims(
    packets: Sequence[Path], models: Models, config: Config, progress: Progress | None = None
) -> Iterator[LabelledClaim]:
    """Yield every labelled claim with what is closest to it in each source; nothing is read."""
    for path in packets:
        rows = trainable(path)
        opened = opened_cases(rows, models, config)
        for number, (row, (_, case)) in enumerate(zip(rows, opened, strict=True), 1):
            words = stems(case.claim.text)
            texts = dict.fromkeys(text for one in case.focused.values() for text in one.texts)
            windows = [
                Window(
                    premise=text,
                    hypothesis=case.claim.text,
                    entailment=round(len(words & stems(text)) / max(1, len(words)), 4),
                )
                for text in texts
            ]
            yield _labelled(row, path, windows)
            if progress:
                progress(number, len(rows), f"claims of {path.name}")


def _labelled(row: PacketRow, path: Path, windows: Sequence[Window]) -> LabelledClaim:
    return LabelledClaim(
        claim_id=row.claim_id,
        trace_id=row.trace_id,
        packet=path.name.split(".")[0],
        supported=row.label is VerdictLabel.SUPPORTED,
        windows=tuple(sorted(windows, key=lambda one: -one.entailment)),
    )


def write_claims(claims: Sequence[LabelledClaim], path: Path) -> None:
    """Write the claims as JSON Lines."""
    lines = (json.dumps(asdict(claim), ensure_ascii=False) + "\n" for claim in claims)
    path.write_text("".join(lines), encoding="utf-8")


def read_claims(path: Path) -> list[LabelledClaim]:
    """Read what `write_claims` wrote."""
    found = []
    for line in path.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        windows = tuple(Window(**window) for window in record.pop("windows"))
        found.append(LabelledClaim(windows=windows, **record))
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the claims of packets with their windows."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("packets", type=Path, nargs="+")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--kept", type=Path, help="a folder where NLI scores are kept between runs")
    parser.add_argument("--close", action="store_true", help="each claim's focused premise instead")
    given = parser.parse_args(arguments)
    config = Config()
    models = measured_models(config, given.kept, None)
    made = focused_claims if given.close else labelled_claims
    write_claims(list(made(given.packets, models, config, _progress)), given.out)


def _progress(done: int, total: int | None, what: str) -> None:
    if done % 100 == 0 or done == total:
        print(f"{done} of {total} {what}", file=sys.stderr)


if __name__ == "__main__":
    main()
