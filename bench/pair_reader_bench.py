"""Claims a second of the pair reader, against sentence-transformers on the same weights.

The comparison does what a verifier without our reader would do: `CrossEncoder.predict` for the
probabilities and a pass with `output_attentions=True` for the alignment of III.4, both in fp32 as
they come. Ours gives both from one pass, tokenisation included.

    python bench/pair_reader_bench.py [--json PATH] [--pairs 48] [--tokens 128 --tokens 256]
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import torch  # noqa: E402
from sentence_transformers import CrossEncoder  # noqa: E402
from transformers import AutoModelForSequenceClassification, AutoTokenizer  # noqa: E402

from core.models.loading import BUNDLED_PAIR_READER, load_pair_reader  # noqa: E402
from core.models.pair_reader import BertPairReader  # noqa: E402
from training.synthetic import synthetic_pairs  # noqa: E402

BATCH = 32


def main() -> None:
    """Measure and print one line a length."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--pairs", type=int, default=48)
    parser.add_argument("--tokens", type=int, action="append")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    rows = [
        measure(tokens, given.pairs, given.repeats) for tokens in given.tokens or (128, 256, 512)
    ]
    rates = {
        name: matmul_rate(dtype)
        for name, dtype in (("fp32", torch.float32), ("bf16", torch.bfloat16))
    }
    print(f"threads {torch.get_num_threads()}, matrix multiply GFLOP/s: ", end="")
    print(", ".join(f"{name} {rate:.0f}" for name, rate in rates.items()))
    for row in rows:
        row["share_of_matmul_rate"] = round(row["gflops"] / rates[str(row["precision"])], 3)
        print(
            f"{row['tokens']:>4} tokens: ours ({row['precision']}) {row['ours']:.1f} claims/s, "
            f"theirs {row['theirs']:.1f} claims/s (predict alone {row['predict_alone']:.1f}), "
            f"{row['times']:.1f} times, {row['share_of_matmul_rate']:.0%} of the matrix-multiply rate"
        )
    if given.json:
        given.json.write_text(json.dumps({"rows": rows, "matmul_gflops": rates}, indent=2) + "\n")


def measure(tokens: int, count: int, repeats: int) -> dict[str, float | int | str]:
    """Claims a second of both at one pair length."""
    pairs = pairs_of(tokens, count)
    reader = load_pair_reader(max_tokens=tokens)
    assert isinstance(reader, BertPairReader)
    ours = count / best(lambda: reader.read(pairs), repeats)

    folder = str(BUNDLED_PAIR_READER)
    cross = CrossEncoder(
        folder, max_length=tokens, device="cpu", model_kwargs={"dtype": torch.float32}
    )
    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    model = AutoModelForSequenceClassification.from_pretrained(
        folder, local_files_only=True, dtype=torch.float32, attn_implementation="eager"
    ).eval()

    def attentions() -> None:
        for start in range(0, count, BATCH):
            part = pairs[start : start + BATCH]
            encoded = tokenizer(
                [premise for premise, _ in part], [claim for _, claim in part],
                truncation="only_first", max_length=tokens, padding=True, return_tensors="pt",
            )  # fmt: skip
            with torch.inference_mode():
                layers = model(**encoded, output_attentions=True).attentions
                torch.stack(layers).mean((0, 2))

    predict = best(lambda: cross.predict(pairs, batch_size=BATCH, show_progress_bar=False), repeats)
    theirs = count / (predict + best(attentions, repeats))
    return {
        "tokens": tokens,
        "precision": reader.precision,
        "ours": ours,
        "theirs": theirs,
        "predict_alone": count / predict,
        "times": ours / theirs,
        "gflops": ours * flops(tokens) / 1e9,
    }


def pairs_of(tokens: int, count: int) -> list[tuple[str, str]]:
    """Pairs whose premise is longer than the budget, so that each is cut to exactly ``tokens``."""
    made = synthetic_pairs("clinical", count * 30)
    return [
        ("\n".join(pair.premise for pair in made[i * 30 : i * 30 + 30]), made[i * 30].hypothesis)
        for i in range(count)
    ]


def flops(tokens: int, layers: int = 6, hidden: int = 384, inner: int = 1536) -> float:
    """Multiply-adds, times two, that one pair needs; the last layer's output for one position."""
    projections = 2 * tokens * hidden * 3 * hidden
    after = 2 * tokens * (hidden * hidden + 2 * hidden * inner)
    attention = 2 * 2 * tokens * tokens * hidden
    return layers * projections + (layers - 1) * (after + attention) + attention / 2


def best(task: Callable[[], object], repeats: int) -> float:
    """Median seconds of a task after one warm-up."""
    task()
    seconds = []
    for _ in range(repeats):
        began = time.perf_counter()
        task()
        seconds.append(time.perf_counter() - began)
    return statistics.median(seconds)


def matmul_rate(dtype: torch.dtype) -> float:
    """GFLOP/s of a large matrix multiplication on this machine, the best of five."""
    a, b = torch.randn(2048, 1536).to(dtype), torch.randn(1536, 1536).to(dtype)
    torch.mm(a, b)
    rates = []
    for _ in range(5):
        began = time.perf_counter()
        torch.mm(a, b)
        rates.append(2 * 2048 * 1536 * 1536 / (time.perf_counter() - began) / 1e9)
    return max(rates)


if __name__ == "__main__":
    main()
