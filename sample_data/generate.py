"""Writes the sample traces with their gold labels: ``python sample_data/generate.py``.

    python sample_data/generate.py                                   the shipped files, byte for byte
    python sample_data/generate.py --traces 2000 --seed 7 --out DIR  as many more as a test needs
    python sample_data/generate.py --probes 50 --out DIR             one attribution swap a trace

Everything is invented; only the standard library is used.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tomllib
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

from answers import LAYOUTS, PHRASES, SHAPES, Writer, choose, close, write_answer
from documents import (
    Document,
    article_text,
    chart_text,
    counts_text,
    emptied,
    failed,
    formulary_text,
    guideline_text,
    label_text,
    labs_text,
    metadata_text,
    registry_text,
    truncated,
)  # fmt: skip
from world import (
    FACTS,
    Fact,
    Patient,
    Study,
    chart_facts,
    count_facts,
    formulary_facts,
    guideline_facts,
    lab_facts,
    label_facts,
    make_patient,
    make_study,
    registry_facts,
    split,
)  # fmt: skip

HERE = Path(__file__).parent
SEED = 20260607
TRACES = 72
CLEAN_SHARE = 0.45

ANY = (
    "wrong_number", "wrong_date", "contradicted", "dropped_qualifier", "dropped_negation",
    "unsupported", "not_enough_evidence", "wrong_source",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """What a trace is about: its documents and people, its question, and its defects to choose."""

    name: str
    question: str
    documents: list[Document]
    patients: list[Patient]
    slices: list[str]
    defects: tuple[str, ...] = ANY
    first_defect: str | None = None


# ---------------------------------------------------------------- documents of a scene


def chart(rng: Random, patient: Patient, rich: bool = True) -> Document:
    """A patient's chart."""
    facts = chart_facts(rng, patient, rich)
    tool, text, facts = chart_text(rng, patient, facts)
    return document(tool, "patient_record", text, facts, patient=patient)


def labs(rng: Random, patient: Patient) -> Document:
    """A patient's results."""
    facts = lab_facts(rng, patient)
    tool, text = labs_text(rng, patient, facts)
    return document(tool, "lab", text, facts, patient=patient)


def article(rng: Random, study: Study) -> Document:
    """A study's abstract, with as much of its citation as a search shows."""
    tool, text = article_text(rng, study)
    known = {k: v for k, v in study.citation.items() if k in ("title", "author", "year", "pmid")}
    facts = [*study.facts, Fact(kind="citation", slots={**known})]
    return document(tool, "literature", text, facts, citation=study.citation)


def metadata(rng: Random, study: Study) -> Document:
    """A study's citation record."""
    facts = [Fact(kind="citation", slots={**study.citation})]
    text = metadata_text(rng, study)
    return document(
        "get_pubmed_article_metadata", "literature", text, facts, citation=study.citation
    )


def counts(rng: Random, patient: Patient) -> Document:
    """How much is stored for a patient."""
    facts = count_facts(rng, patient)
    text = counts_text(rng, patient, facts)
    return document("count_resources", "patient_record", text, facts, patient=patient)


def document(tool: str, credit: str, text: str, facts: list[Fact], **more: Any) -> Document:
    """A tool output; its source id is given when its trace is complete."""
    return Document(
        source_id="", tool_name=tool, family="formulary" if credit == "label" else credit,
        credit=credit, text=text, facts=tuple(facts), **more,
    )  # fmt: skip


# ---------------------------------------------------------------- scenes


def make_scene(rng: Random, name: str) -> Scene:
    """A scene of the given kind."""
    profile = rng.choice(FACTS["profile"])
    drug, doses, _ = split(rng.choice(profile["drugs"]))
    taken: set[str] = set()
    patient = make_patient(rng, taken, profile)
    authors: set[str] = set()
    study = make_study(rng, profile, drug, rng.randrange(2), authors)
    words = {
        "name": patient.name, "mrn": patient.mrn, "drug": drug, "cond": profile["short"],
        "outcome": profile["outcomes"][0], "monitor": profile["monitor"],
    }  # fmt: skip
    people, slices, first = [patient], [], None
    defects: tuple[str, ...] = ANY
    topic = name
    match name:
        case "chart":
            found = [chart(rng, patient)]
            slices = ["single_source"]
        case "literature":
            found, people = [article(rng, study)], []
            slices = ["single_source"]
        case "chart_literature":
            found = [chart(rng, patient), article(rng, study)]
            slices = ["chart_plus_literature"]
            if rng.random() < 0.4:
                found.append(metadata(rng, study))
                slices.append("literature_vs_metadata")
        case "two_patients":
            other = make_patient(rng, taken, profile)
            found, people = [chart(rng, patient), chart(rng, other)], [patient, other]
            words["name2"] = other.name
            slices, first = ["same_topic_wrong_chart"], "wrong_patient"
            defects = ("wrong_patient", *ANY)
            if rng.random() < 0.35:
                found += [labs(rng, patient), labs(rng, other)]
                slices.append("structured_labs")
        case "two_searches":
            second = make_study(rng, profile, drug, rng.randrange(2), authors)
            found, topic = [article(rng, study), article(rng, second)], "literature"
            people, slices = [], ["two_searches"]
            first, defects = "wrong_article", ("wrong_article", *ANY)
        case "metadata":
            found, topic = [article(rng, study), metadata(rng, study)], "literature"
            people, slices = [], ["literature_vs_metadata"]
        case "labs":
            found, slices = [labs(rng, patient)], ["structured_labs"]
            if rng.random() < 0.5:
                found.append(chart(rng, patient, rich=False))
        case "count":
            found = [counts(rng, patient), chart(rng, patient, rich=False)]
            slices = ["count_summary"]
        case "formulary":
            found = [
                document("lookup_drug_label", "label", "", label_facts(rng, profile, drug,
                         doses.split(",")[0])),
                document("get_formulary_entry", "formulary", "", formulary_facts(rng, profile, drug)),
            ]  # fmt: skip
            found[0] = replace(found[0], text=label_text(rng, list(found[0].facts)))
            found[1] = replace(found[1], text=formulary_text(rng, list(found[1].facts)))
            people, slices = [], ["formulary_label"]
            if rng.random() < 0.5:
                found.append(chart(rng, patient, rich=False))
                people = [patient]
        case "guideline":
            facts = guideline_facts(rng, profile, drug)
            found = [
                document("search_guidelines", "guideline", guideline_text(rng, facts), facts),
                chart(rng, patient, rich=False) if rng.random() < 0.6 else article(rng, study),
            ]
            people, slices = [d.patient for d in found if d.patient], ["guideline"]
        case "registry":
            facts = registry_facts(rng, profile, drug)
            found = [
                document("search_trial_registry", "registry", registry_text(rng, facts), facts),
                article(rng, study),
            ]
            people, slices = [], ["trial_registry"]
        case "failed" | "empty":
            broken = [article(rng, study), labs(rng, patient)][rng.randrange(2)]
            spoilt = failed if name == "failed" else emptied
            found, topic = [chart(rng, patient), spoilt(rng, broken)], "chart_literature"
            slices, first = [f"{name}_output"], "beyond_cut"
            defects = ("beyond_cut", *ANY)
        case "truncated":
            whole = [article(rng, study), labs(rng, patient), chart(rng, patient)][rng.randrange(3)]
            other_one = chart(rng, patient, False) if whole.citation else article(rng, study)
            found, topic = [truncated(rng, whole), other_one], "chart_literature"
            slices, first = ["truncated_output"], "beyond_cut"
            defects = ("beyond_cut", *ANY)
        case "no_evidence":
            found = [failed(rng, chart(rng, patient)), emptied(rng, article(rng, study))]
            topic, slices, first = "chart_literature", ["no_evidence"], "beyond_cut"
            defects = ("beyond_cut",)
        case "many":
            studies = [study] + [
                make_study(rng, profile, drug, n % 2, authors) for n in range(rng.randrange(3, 6))
            ]
            found = [article(rng, s) for s in studies]
            found += [metadata(rng, s) for s in rng.sample(studies, rng.randrange(1, 3))]
            topic, slices, people = "literature", ["many_candidates"], []
            defects, first = ("wrong_article", *ANY), "wrong_article"
            if rng.random() < 0.5:
                found.append(chart(rng, patient, rich=False))
                people, topic = [patient], "chart_literature"
                slices.append("chart_plus_literature")
        case _:
            raise ValueError(name)
    rng.shuffle(found)
    question = PHRASES["questions"][{"chart": "chart", "labs": "labs"}.get(topic, topic)]
    fitting = [q for q in question if people or "{name" not in q] or PHRASES["questions"][
        "literature"
    ]
    return Scene(
        name=name, question=rng.choice(fitting).format(**words),
        documents=identified(rng, found), patients=people, slices=slices, defects=defects,
        first_defect=first,
    )  # fmt: skip


SCENES = (
    "chart_literature", "two_patients", "labs", "many", "chart", "formulary", "two_searches",
    "metadata", "guideline", "truncated", "chart_literature", "count", "registry", "failed",
    "many", "empty", "two_patients", "labs", "chart_literature", "no_evidence",
)  # fmt: skip


CATEGORIES = {
    "chart": "patient_chart", "count": "count_summary", "labs": "laboratory",
    "literature": "literature_review", "two_searches": "literature_review",
    "metadata": "literature_review", "many": "literature_review",
    "chart_literature": "chart_plus_literature", "failed": "chart_plus_literature",
    "empty": "chart_plus_literature", "truncated": "chart_plus_literature",
    "no_evidence": "chart_plus_literature",
}  # fmt: skip


def identified(rng: Random, documents: list[Document]) -> list[Document]:
    """The documents with source ids in one of the styles that agents use."""
    style, seen = rng.randrange(3), Counter[str]()
    servers = {"patient_record": "ehr", "lab": "ehr", "literature": "pubmed", "label": "drugs",
               "formulary": "drugs", "guideline": "guidelines", "registry": "trials"}  # fmt: skip
    found = []
    for number, one in enumerate(documents, start=1):
        seen[one.tool_name] += 1
        if style == 0:
            nth = seen[one.tool_name]
            source_id = f"tool_output::{one.tool_name}" + (f"::{nth}" if nth > 1 else "")
        elif style == 1:
            source_id = f"{servers[one.credit]}/{one.tool_name}#call_{rng.randrange(16**6):06x}"
        else:
            source_id = f"{one.tool_name}#{number}"
        found.append(replace(one, source_id=source_id))
    return found


# ---------------------------------------------------------------- traces


def native(rng: Random, trace_id: str, scene: Scene, answer: str) -> dict[str, Any]:
    """The trace as an agent would have written it (native format)."""
    outputs = []
    for one in scene.documents:
        output: dict[str, Any] = {
            "tool_name": one.tool_name, "source_id": one.source_id,
            "source_role": "complete_tool_output", "chunk_count": one.text.count("\n\n") + 1,
            "text": one.text,
        }  # fmt: skip
        if one.status == "error":
            output["is_error"] = True
        if one.status == "truncated":
            output |= {"source_role": "partial_tool_output", "truncated": True}
        outputs.append(output)
    return {
        "question_id": trace_id, "user_question": scene.question,
        "category": CATEGORIES.get(scene.name, scene.name),
        "route": "+".join(sorted({one.family for one in scene.documents})),
        "tool_calls": [one.tool_name for one in scene.documents], "full_tool_outputs": outputs,
        "original_evidence_chunk_count": sum(output["chunk_count"] for output in outputs),
        "assistant_answer": answer, "final_reply_to_user": answer,
        "elapsed_s": round(rng.uniform(3, 48), 2), "synthetic": True,
    }  # fmt: skip


def pick_defects(rng: Random, scene: Scene, used: Counter[str]) -> list[str]:
    """One to three kinds of defect, the rarest so far first."""
    first = [scene.first_defect] if scene.first_defect and rng.random() < 0.75 else []
    others = [kind for kind in scene.defects if kind not in first]
    others.sort(
        key=lambda kind: (used[kind] * (0.5 if kind == "wrong_source" else 1), rng.random())
    )
    return first + others[: rng.choice([1, 2, 2, 3, 3]) - len(first)]


def make_trace(
    rng: Random, trace_id: str, scene_name: str, shape: str, clean: bool, used: Counter[str]
) -> tuple[dict[str, Any], list[dict[str, Any]], list[dict[str, Any]]]:
    """A trace, its gold claims and its claim packets."""
    while True:
        scene = make_scene(rng, scene_name)
        defects = [] if clean else pick_defects(rng, scene, used)
        answer = write_answer(rng, scene.documents, scene.patients, shape, defects)
        found = [claim["defect"] for claim in answer.claims if claim["defect"]]
        if answer.text.strip() and (clean or found):
            break
    used.update("beyond_cut" if kind == "from_nothing" else kind for kind in found)
    trace = native(rng, trace_id, scene, answer.text)
    return labelled(trace, scene.documents, answer.claims, scene.slices, shape)


def labelled(
    trace: dict[str, Any], documents: list[Document], claims: list[dict[str, Any]],
    slices: list[str], shape: str,
) -> tuple[dict[str, Any], list[dict[str, Any]], list[dict[str, Any]]]:  # fmt: skip
    """The trace with its claims as gold rows and as packet rows."""
    trace_id = trace["question_id"]
    sources = [
        {"source_id": one.source_id, "tool_name": one.tool_name, "text": one.text}
        for one in documents
        if one.status in ("ok", "truncated")
    ]
    gold, packet = [], []
    for number, claim in enumerate(sorted(claims, key=lambda c: c["start"]), start=1):
        row = {"trace_id": trace_id, "claim_id": f"{trace_id}::g{number:02d}", **claim}
        row["slices"] = [*slices, f"answer_{shape}", *claim["slices"]]
        gold.append(row)
        if row["label"] is None or not sources:
            continue
        stated = claim["stated_attribution"]
        packet.append(
            {
                "claim_id": row["claim_id"], "trace_id": trace_id, "claim": row["claim"],
                "stated_attribution": stated["text"] if stated else None,
                "category": trace["category"], "sources": sources, "label": row["label"],
                "relation": row["relation"], "gold_source_ids": row["gold_source_ids"],
                "gold_attribution": row["gold_attribution"], "slices": row["slices"],
                "defect": row["defect"],
            }
        )  # fmt: skip
    return trace, gold, packet


# ---------------------------------------------------------------- traces written by hand

MARKED = re.compile(r"⟦(.*?)⟧\{(.*?)\}", re.DOTALL)


def by_hand(number: int, entry: dict[str, Any]) -> Any:
    """A trace of handwritten.toml: ``⟦words⟧{key=value; …}`` in its answer marks a claim."""
    rng = Random(number)
    documents = [
        Document(
            source_id=source["id"], tool_name=source["tool"], family=source["family"],
            credit=source["family"], text=source["text"].strip("\n"), facts=(),
            status=source.get("status", "ok"),
        )
        for source in entry["source"]
    ]  # fmt: skip
    text, claims, last = "", [], 0
    marked = entry["answer"].strip("\n")
    for match in MARKED.finditer(marked):
        text += marked[last : match.start()]
        last = match.end()
        keys = dict(part.strip().split("=", 1) for part in match[2].split(";") if part.strip())
        start, said = len(text), match[1]
        text += said
        claims.append((start, said, keys))
    text += marked[last:]
    scene = Scene(
        name=entry["category"], question=entry["question"], documents=documents, patients=[],
        slices=entry["slices"],
    )  # fmt: skip
    rows = [hand_claim(text, start, said, keys, documents) for start, said, keys in claims]
    trace = native(rng, f"sample-{number:03d}", scene, text)
    return labelled(trace, documents, rows, entry["slices"], entry["shape"])


def hand_claim(
    text: str, start: int, said: str, keys: dict[str, str], documents: list[Document]
) -> dict[str, Any]:
    """One marked claim of a handwritten answer."""
    kind = keys.get("type", "factual")
    stated = None
    if "credit" in keys:
        place = text.rfind(keys["credit"], 0, start + len(said))
        if place < 0:
            place = text.index(keys["credit"])
        stated = {"text": keys["credit"], "start": place, "end": place + len(keys["credit"])}
    label = keys.get("label", "supported") if kind == "factual" else None
    relation = {"supported": "entailment", "contradicted": "contradiction"}.get(
        label or "", "neutral"
    )
    gold = [documents[int(n)].source_id for n in keys.get("src", "").split(",") if n]
    return {
        "said": said, "start": start, "end": start + len(said),
        "claim": keys.get("claim", said[:1].upper() + said[1:].rstrip(".?") + said[-1:]
                          if said.endswith((".", "?")) else said[:1].upper() + said[1:] + "."),
        "claim_type": kind,
        "label": label, "relation": keys.get("relation", relation) if label else None,
        "gold_source_ids": gold, "stated_attribution": stated,
        "stated_family": keys.get("family"), "gold_attribution": keys.get("attribution"),
        "defect": keys.get("defect"),
        "slices": ["handwritten"] + (["stated_credit"] if stated else []),
    }  # fmt: skip


# ---------------------------------------------------------------- whole sets


def sample_set(total: int, seed: int, prefix: str) -> list[Any]:
    """The handwritten traces first (in the shipped set), then generated ones."""
    rng, used = Random(seed), Counter[str]()
    made: list[Any] = []
    if prefix == "sample":
        entries = tomllib.loads((HERE / "handwritten.toml").read_text(encoding="utf-8"))["trace"]
        made = [by_hand(number, entry) for number, entry in enumerate(entries, start=1)]
    already_clean = sum(1 for _, gold, _ in made if not any(row["defect"] for row in gold))
    rest = total - len(made)
    # Scenes that only a defect makes interesting are clean less often; the share stays exact.
    telling = ("two_patients", "two_searches", "many", "truncated")
    ranks = [rng.random() * (0.6 if SCENES[n % len(SCENES)] in telling else 1) for n in range(rest)]
    wanted = max(0, round(total * CLEAN_SHARE) - already_clean)
    clean_ones = set(sorted(range(rest), key=lambda n: -ranks[n])[:wanted])
    shapes = [SHAPES[n % len(SHAPES)] for n in range(rest)]
    rng.shuffle(shapes)
    for n in range(rest):
        number = len(made) + 1
        trace_id = f"{prefix}-{number:03d}" if total < 1000 else f"{prefix}-{number:05d}"
        scene = SCENES[n % len(SCENES)]
        made.append(make_trace(rng, trace_id, scene, shapes[n], n in clean_ones, used))
    return made


def probe_set(total: int, seed: int) -> list[Any]:
    """Traces with one deliberate swap each: chart facts credited to literature, and the reverse."""
    rng, made = Random(seed), []
    while len(made) < total:
        scene = make_scene(rng, "chart_literature")
        swap_to = ("literature", "patient_record")[len(made) % 2]
        shape = rng.choice(["prose", "paragraphs", "bullets", "numbered", "short"])
        writer = Writer(rng, scene.documents, scene.patients)
        item = None
        for _ in range(60):
            item = writer.spoil("wrong_source", False)
            if item is None or (item.credit == swap_to and not item.veiled):
                break
        if item is None or item.credit != swap_to or item.veiled:
            continue
        items = [*choose(writer, shape, [], False), item]
        rng.shuffle(items)
        LAYOUTS[shape](writer, items)
        close(writer, shape)
        trace = native(rng, f"probe-{len(made) + 1:03d}", scene, writer.answer.text)
        made.append(
            labelled(trace, scene.documents, writer.answer.claims, ["attribution_swap"], shape)
        )
    return made


def write(made: list[Any], folder: Path) -> None:
    """Three files of JSON Lines; the same input gives the same bytes."""
    folder.mkdir(parents=True, exist_ok=True)
    parts = {
        "traces.jsonl": [trace for trace, _, _ in made],
        "gold.jsonl": [row for _, gold, _ in made for row in gold],
        "packet.jsonl": [row for _, _, packet in made for row in packet],
    }
    for name, rows in parts.items():
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (folder / name).write_bytes(text.encode("utf-8"))


def main(arguments: list[str]) -> int:
    """Write what the command line asks for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--traces", type=int, default=None, help=f"how many (default {TRACES})")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--probes", type=int, default=None, help="attribution-swap probes instead")
    parser.add_argument("--out", type=Path, default=None, help="folder to write to")
    options = parser.parse_args(arguments)
    shipped = options.traces is None and options.probes is None and options.seed == SEED
    if options.out is None and not shipped:
        parser.error("--traces, --probes and --seed need --out, so that the shipped files stay")
    if options.probes is not None:
        made = probe_set(options.probes, options.seed)
    else:
        made = sample_set(options.traces or TRACES, options.seed, "sample" if shipped else "gen")
    write(made, options.out or HERE)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
