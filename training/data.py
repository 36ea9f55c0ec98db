"""The NLI model's training data: one weighted, seeded pass over the sources, with made neutrals
and rewrites.

Only `nli/train`, `nli/binary` and `nli/more` are read here. Validation pairs and claim packets are never
trained on.
"""

from __future__ import annotations

import gzip
import json
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import HashingVectorizer, TfidfTransformer

from training.texts import CONTRADICTION, ENTAILMENT, NEUTRAL, authored_pairs, synthetic_pairs


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A training pair; `premise_tokens` is the most premise word pieces that are kept, `taught` what a
    larger NLI model gives the three labels. A pair that only that says something of has no label."""

    premise: str
    hypothesis: str
    label: str
    source: str
    premise_tokens: int = 192
    taught: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """How one file is used: passes over it in one pass of the whole, premise lengths, and what is
    made from it."""

    times: float
    premise_tokens: tuple[int, ...] = (192,)
    made_neutrals: float = (
        0.0  # neutrals made from mismatched evidence, as a share of the rows drawn
    )
    swaps: float = (
        0.0  # number swaps and denials made from entailed rows, as a share of the rows drawn
    )
    wrapped: float = 0.0  # share of premises wrapped as a record or joined with an unrelated one
    records: bool = False  # the premise is `key: value` lines


# Chosen before training from what each set is (README of the data): general prose first, records
# next, evidence sets with made neutrals, template-made sets low. The shares were not tuned one by
# one.
SOURCES: Mapping[str, Source] = {
    "mnli_train20k": Source(times=1.0, wrapped=0.06, swaps=0.04),
    "mnli_pada_train": Source(times=1.0, wrapped=0.06, swaps=0.04),
    "lingnli_train": Source(times=0.3, wrapped=0.06, swaps=0.03),
    "newprotocols_train": Source(times=1.0, wrapped=0.06, swaps=0.04),
    "cfnli_train": Source(times=0.5),
    "joci": Source(times=0.15),
    "mpe": Source(times=0.15, premise_tokens=(96,)),
    "cb_fracas": Source(times=1.0),
    "infotabs_train": Source(times=1.2, premise_tokens=(112, 144, 224), swaps=0.08, records=True),
    "control_train": Source(times=2.0, premise_tokens=(96, 160, 256, 384, 480), made_neutrals=0.15),
    "fever_dev_SR": Source(
        times=0.4, premise_tokens=(96, 128), made_neutrals=0.5, swaps=0.1, wrapped=0.1
    ),
    "tabfact_pairs": Source(times=0.12, premise_tokens=(128, 192), made_neutrals=0.4),
    "med_scifact_train": Source(
        times=2.5, premise_tokens=(128, 192, 256), made_neutrals=0.15, wrapped=0.15, swaps=0.05
    ),
    "med_checkcovid_train": Source(times=2.5, made_neutrals=0.1, wrapped=0.15, swaps=0.05),
    "med_covidfact_train": Source(
        times=0.8, premise_tokens=(128, 192), made_neutrals=0.6, wrapped=0.1, swaps=0.05
    ),
    "med_nli4ct_train": Source(times=1.0, premise_tokens=(128, 192, 320), made_neutrals=0.25),
    "med_evidence_inference_templ": Source(times=0.6, made_neutrals=0.6, wrapped=0.1),
    "monotonicity_help": Source(times=0.05),
    "fragments_6x": Source(times=0.05),
    "conjnli_adv15k": Source(times=0.2),
    "binary/rte": Source(times=1.0, premise_tokens=(128,)),
    "binary/scitail_dev": Source(times=1.0),
    "binary/cur_drop": Source(times=0.06, premise_tokens=(96, 160)),
    "binary/cur_cosmoqa": Source(times=0.05, premise_tokens=(96,)),
    "binary/cur_ner": Source(times=0.05),
    "binary/cur_coreference": Source(times=0.08, premise_tokens=(96,)),
    # General and human-labelled pairs first; recasts low; ANLI and ImpPres are left out, because
    # weights under Apache-2.0 are shipped.
    "more/semiauto_nli_train": Source(times=1.0, premise_tokens=(96, 128), wrapped=0.04),
    "more/mnli_xnliext15k": Source(times=1.0, wrapped=0.06, swaps=0.03),
    "more/mnli_dev_rest": Source(times=1.0, wrapped=0.06, swaps=0.03),
    "more/mnli_syntactic_aug": Source(times=0.15),
    "more/sufficient_facts": Source(times=0.6, premise_tokens=(128, 192)),
    "more/defacto_train": Source(times=2.0, premise_tokens=(192, 320, 480)),
    "more/defacto_val": Source(times=2.0, premise_tokens=(192, 320, 480)),
    "more/feverous_dev": Source(times=1.0, premise_tokens=(192, 320, 480), made_neutrals=0.4),
    "more/foolmetwice_dev": Source(times=1.0, made_neutrals=0.3, swaps=0.05),
    "more/alexa_dialog_halluc": Source(times=0.6),
    "more/averitec_dev": Source(times=1.0),
    "more/fever_symmetric_dev": Source(times=1.0),
    "more/folio_train": Source(times=0.5),
    "more/healthfc": Source(times=1.0),
    "more/negation_bench": Source(times=0.4),
    "more/pubhealthtab_eval": Source(times=1.0),
    "more/scitab": Source(times=1.0, premise_tokens=(192, 256)),
    "more/scone_train": Source(times=0.1),
    "more/shroom_val": Source(times=0.5),
    "more/monli": Source(times=0.2),
    "more/curr_kg_relations": Source(times=0.1),
    "more/curr_ester": Source(times=0.2),
    "more/curr_temporal": Source(times=0.3),
    "more/curr_lexical": Source(times=0.05),
    "more/ambient_disamb": Source(times=0.3),
    "more/add_one_rte": Source(times=0.15),
}
# Made from templates, they teach our wording more than reading: a tenth of a pass.
CLINICAL_PAIRS_PER_PASS = 6_000
LITERATURE_PAIRS_PER_PASS = 5_000
MEANING_PAIRS_PER_PASS = 8_000


def load_sources(folder: Path, limit: int | None = None) -> dict[str, list[Pair]]:
    """Return the rows of every source in SOURCES found under `folder` (which holds train/,
    binary/ and more/)."""
    rows: dict[str, list[Pair]] = {}
    for name in SOURCES:
        path = folder / f"{name if '/' in name else f'train/{name}'}.jsonl.gz"
        if not path.exists():
            continue
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            found = [_pair(json.loads(line), name) for line in lines]
        rows[name] = found[:limit]
    if not rows:
        raise FileNotFoundError(f"{folder}: no train/*.jsonl.gz of a known source")
    return rows


def read_pairs(path: Path, limit: int | None = None) -> list[Pair]:
    """Return the pairs of one gzipped JSON Lines file."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [_pair(json.loads(line), path.name.split(".")[0]) for line in lines][:limit]


def quick_pairs(pairs: Sequence[Pair], count: int) -> list[Pair]:
    """Return `count` pairs, always the same ones, with premises of at most 160 word pieces."""
    chosen = random.Random(0).sample(list(pairs), min(count, len(pairs)))
    return [replace(pair, premise_tokens=160) for pair in chosen]


def one_pass(
    rows: Mapping[str, Sequence[Pair]],
    seed: int,
    index: int,
    clinical: int = CLINICAL_PAIRS_PER_PASS,
    literature: int = LITERATURE_PAIRS_PER_PASS,
    meaning: int = MEANING_PAIRS_PER_PASS,
) -> list[Pair]:
    """Return the shuffled pairs of pass `index`; the same seed and index give the same pairs."""
    rng = random.Random(f"pass-{seed}-{index}")
    pairs: list[Pair] = []
    for name, found in rows.items():
        pairs += _from_source(found, SOURCES[name], index, rng)
    synthetic = {
        "clinical": synthetic_pairs("clinical", clinical, index),
        "literature": synthetic_pairs("literature", literature, index),
        "meaning": synthetic_pairs("meaning", meaning, index),
    }
    pairs += [
        Pair(
            premise=p.premise,
            hypothesis=p.hypothesis,
            label=p.label,
            source=source,
            premise_tokens=256,
        )
        for source, made in synthetic.items()
        for p in made
    ]
    rng.shuffle(pairs)
    return pairs


def _pair(row: Mapping[str, Any], source: str) -> Pair:
    if not row["label"] and not row.get("taught"):
        raise ValueError(f"{source}: a pair without a label, and nothing was said of it")
    return Pair(
        premise=row["premise"],
        hypothesis=row["hypothesis"],
        label=row["label"],
        source=source,
        taught=tuple(row.get("taught", ())),
    )


def _from_source(
    found: Sequence[Pair], source: Source, index: int, rng: random.Random
) -> list[Pair]:
    drawn = _draw(found, source.times, index, rng)
    made = (
        mismatched(found, int(len(drawn) * source.made_neutrals), rng)
        if source.made_neutrals
        else []
    )
    swapped = _swapped(drawn, int(len(drawn) * source.swaps), rng) if source.swaps else []
    result = []
    for pair in [*drawn, *made, *swapped]:
        if source.records:
            pair = replace(pair, premise=restyle_record(pair.premise, pair.hypothesis, rng))
        elif source.wrapped and rng.random() < source.wrapped:
            pair = replace(pair, premise=_wrap(pair.premise, rng.choice(found).premise, rng))
        result.append(replace(pair, premise_tokens=rng.choice(source.premise_tokens)))
    if source.records:
        result += _other_subject(drawn, len(drawn) // 25, rng)
    return result


def _draw(found: Sequence[Pair], times: float, index: int, rng: random.Random) -> list[Pair]:
    """Draw `times` passes without repeating a row before all were seen (a different share in each
    pass)."""
    whole, part = int(times), times - int(times)
    order = list(range(len(found)))
    random.Random(f"order-{len(found)}").shuffle(order)
    start = int(index * part * len(found)) % max(len(found), 1)
    share = int(part * len(found))
    window = [order[(start + i) % len(found)] for i in range(share)]
    return [found[i] for i in order] * whole + [found[i] for i in window]


def mismatched(found: Sequence[Pair], count: int, rng: random.Random) -> list[Pair]:
    """Pair claims with another claim's evidence as neutrals: two in three with evidence that looks
    alike.

    A premise that holds nearly all content words of the claim is left out: it may well support the
    claim.
    """
    premises = sorted({pair.premise for pair in found})
    if len(premises) < 3 or not count:
        return []
    chosen = [rng.choice(found) for _ in range(count)]
    vectorizer = HashingVectorizer(
        n_features=2**17, alternate_sign=False, norm=None, stop_words="english"
    )
    counts = vectorizer.transform(premises)
    tfidf = TfidfTransformer().fit(counts)
    evidence = tfidf.transform(counts).T.tocsr()
    claims = tfidf.transform(vectorizer.transform([pair.hypothesis for pair in chosen]))
    made: list[Pair] = []
    for start in range(0, count, 512):
        scores = np.asarray((claims[start : start + 512] @ evidence).todense())
        near = np.argsort(-scores, axis=1, kind="stable")[:, :14]
        for row, pair in enumerate(chosen[start : start + 512]):
            pool = (
                [premises[j] for j in near[row]]
                if rng.random() < 0.67
                else rng.sample(premises, min(6, len(premises)))
            )
            words = _content(pair.hypothesis)
            fitting = [
                p
                for p in pool
                if p != pair.premise
                and p not in pair.premise
                and pair.premise not in p
                and len(words & _content(p)) <= 0.7 * len(words)
            ]
            if fitting:
                made.append(replace(pair, premise=rng.choice(fitting), label=NEUTRAL))
    return made


def _content(text: str) -> set[str]:
    return {
        word for word in re.findall(r"[a-z0-9]+", text.lower()) if len(word) > 3 or word.isdigit()
    }


_NUMBER = re.compile(r"(?<![\w.,-])\d{1,4}(?:\.\d+)?(?![\w,-]|\.\d)")
_HEDGED = re.compile(
    r"\b(at least|more than|less than|over|under|about|around|fewer|up to|almost|nearly|before|after|since|"
    r"between|than|or more|not|no|never|any|some|every|all|only)\b",
    re.IGNORECASE,
)
_DENIABLE = re.compile(
    r"^(\W*(?:\w[\w'.-]*\s+){1,5}?)(is|are|was|were|has been|have been|can|will)\s+(?!not\b|n't)",
    re.IGNORECASE,
)


def _swapped(drawn: Sequence[Pair], count: int, rng: random.Random) -> list[Pair]:
    """Make contradictions from entailed rows: a number that the premise states is changed, or the
    claim is denied."""
    entailed = [pair for pair in drawn if pair.label == ENTAILMENT]
    rng.shuffle(entailed)
    made: list[Pair] = []
    for pair in entailed:
        if len(made) >= count:
            break
        hypothesis = swap_number(pair.premise, pair.hypothesis, rng)
        if hypothesis is None and len(made) % 3 == 0:
            hypothesis = deny(pair.hypothesis)
        if hypothesis is not None:
            made.append(replace(pair, hypothesis=hypothesis, label=CONTRADICTION))
    return made


def swap_number(premise: str, hypothesis: str, rng: random.Random) -> str | None:
    """Return the hypothesis with one number of the premise changed; None where that need not
    contradict it."""
    if _HEDGED.search(hypothesis):
        return None
    stated = set(_NUMBER.findall(premise))
    found = [match for match in _NUMBER.finditer(hypothesis) if match.group() in stated]
    if len(found) != 1:
        return None
    value = found[0].group()
    others = sorted(
        other
        for other in stated
        if other != value and len(other) == len(value) and "." not in other
    )
    number = float(value)
    step = rng.choice((1, 2, 3, 5, 10))
    near = (
        f"{number + step:.{len(value.split('.')[1])}f}" if "." in value else str(int(number) + step)
    )
    other = rng.choice(others) if others and rng.random() < 0.5 else near
    return hypothesis[: found[0].start()] + other + hypothesis[found[0].end() :]


def deny(hypothesis: str) -> str | None:
    """Return the hypothesis with its first plain auxiliary denied; None where that is not a plain
    denial."""
    if _HEDGED.search(hypothesis) or not (match := _DENIABLE.match(hypothesis)):
        return None
    auxiliary = match.group(2).split()
    denied = f"{auxiliary[0]} not" + (f" {auxiliary[1]}" if len(auxiliary) > 1 else "")
    if match.group(1).strip().lower() in {"there", "it"}:
        return None
    return hypothesis[: match.start(2)] + denied + hypothesis[match.end(2) :]


def restyle_record(premise: str, hypothesis: str, rng: random.Random) -> str:
    """Return the same record in another layout, and sometimes without some of the lines least like
    the claim."""
    lines = [line for line in premise.split("\n") if line.strip()]
    if len(lines) > 5 and rng.random() < 0.4:
        words = _content(hypothesis)
        ranked = sorted(
            range(1, len(lines)), key=lambda i: (-len(words & _content(lines[i])), rng.random())
        )
        kept = {0, *ranked[: max(4, int(len(lines) * rng.uniform(0.4, 0.8)))]}
        lines = [line for i, line in enumerate(lines) if i in kept]
    style = rng.random()
    if style < 0.6 or any(": " not in line for line in lines):
        return "\n".join(lines)
    keyed = [line.split(": ", 1) for line in lines]
    if style < 0.75:
        return "; ".join(f"{key.lower()}: {value}" for key, value in keyed) + "."
    if style < 0.83:
        return "\n".join(f"- {key}: {value}" for key, value in keyed)
    if style < 0.91:
        return "\n".join(
            f"{rng.choice(('entry', 'record', 'data'))}.{key.lower().replace(' ', '_')}: {value}"
            for key, value in keyed
        )
    if style < 0.95:
        return "{" + ", ".join(f'"{key}": "{value}"' for key, value in keyed) + "}"
    title = keyed[0][1]
    return " ".join(
        [f"{title}.", *(f"The {key.lower()} of {title} is {value}." for key, value in keyed[1:])]
    )


def _other_subject(drawn: Sequence[Pair], count: int, rng: random.Random) -> list[Pair]:
    """Make neutrals: a claim that names its record's title, against another record."""
    made: list[Pair] = []
    for _ in range(count * 3):
        pair, other = rng.choice(drawn), rng.choice(drawn)
        title = pair.premise.split("\n", 1)[0].removeprefix("title: ").split(" (")[0]
        if len(made) >= count:
            break
        if title.lower() in pair.hypothesis.lower() and title.lower() not in other.premise.lower():
            made.append(replace(pair, premise=other.premise, label=NEUTRAL, premise_tokens=192))
    return made


def _wrap(premise: str, other: str, rng: random.Random) -> str:
    """Return the premise as one field of a record, or beside an unrelated text."""
    if rng.random() < 0.5:
        key = rng.choice(
            ("text", "content", "result", "abstract", "snippet", "summary", "description", "note")
        )
        before = rng.choice(
            ("", f"id: {rng.randint(1, 9999)}\n", f"rank: {rng.randint(1, 9)}\n", "status: ok\n")
        )
        return f"{before}{key}: {premise}"
    other = other[:240]
    return f"{premise} {other}" if rng.random() < 0.5 else f"{other} {premise}"


BESIDE_CHARACTERS = 300  # of a source that stands beside an authored one
_SENTENCE_ENDS = re.compile(r"(?<=[a-z)%][.;]) (?=[A-Z])")


def authored_pass(seed: int, index: int, without: Sequence[str] = ()) -> list[Pair]:
    """Every authored pair once, its source as the workbench shows sources to a reader; none of files
    whose names begin as one of `without`.

    Evidence is read as spans on lines of their own, often beside others that the claim is not about:
    two sources in five stand sentence by sentence on lines, and one in four beside another source.
    """
    written = authored_pairs(without=without)
    sources = sorted({pair.source for pair in written})
    rng = random.Random(f"authored-{seed}-{index}")
    pairs: list[Pair] = []
    for pair in written:
        premise = pair.source
        if rng.random() < 0.4:
            premise = _SENTENCE_ENDS.sub("\n", premise)
        if rng.random() < 0.25 and (other := rng.choice(sources)) != pair.source:
            other = other[:BESIDE_CHARACTERS].rsplit("\n", 1)[0]
            beside = (premise, other) if rng.random() < 0.5 else (other, premise)
            premise = "\n".join(beside)
        pairs.append(
            Pair(
                premise=premise,
                hypothesis=pair.claim,
                label=pair.label,
                source="authored",
                premise_tokens=320,
            )
        )
    return pairs
