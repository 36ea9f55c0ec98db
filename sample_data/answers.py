"""Answers as agents write them, with the gold label of every statement in them."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, replace
from datetime import date, timedelta
from pathlib import Path
from random import Random
from typing import Any

from documents import MONTHS, Document, holds
from world import FACTS, Fact, Patient, pick_drug, split

PHRASES: dict[str, Any] = tomllib.loads(
    (Path(__file__).parent / "phrases.toml").read_text(encoding="utf-8")
)
FAMILY = {"label": "formulary"}  # a credit key that is not itself the id of a source family
ALIKE = ({"patient_record", "lab"}, {"formulary", "label"})  # crediting one for the other is right
CELLS = {
    "patient_record": ["Chart", "EHR", "Patient record"], "lab": ["Lab report", "Laboratory"],
    "literature": ["PubMed", "Literature", "Published study"], "label": ["Drug label"],
    "formulary": ["Formulary"], "guideline": ["Guideline"], "registry": ["Trial registry"],
}  # fmt: skip
LISTED = re.compile(r"(?:problem|medication|allergy) list|list of problems")
SHAPES = (
    "prose", "paragraphs", "bullets", "numbered", "table", "label_lines", "headings", "mixed",
    "short",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One claim to be written: its wording, what is true of it, and whom it credits."""

    fact: Fact | None
    template: str
    slots: dict[str, str | date]
    patient: Patient | None
    label: str
    relation: str
    gold: tuple[str, ...]
    home: str | None  # the credit key under which a heading or table would file it
    credit: str | None = None  # the credit key that the answer states, right or wrong
    citation: dict[str, str] | None = None
    defect: str | None = None
    veiled: bool = False
    named_article: bool = False
    line: bool = False
    filed_under: str | None = None  # the heading it is wrongly put under


class Answer:
    """Text that grows, and remembers where each claim stands in it."""

    def __init__(self) -> None:
        self.text = ""
        self.claims: list[dict[str, Any]] = []

    def add(self, text: str) -> tuple[int, int]:
        """Append text; its place."""
        start = len(self.text)
        self.text += text
        return start, len(self.text)

    def gap(self, text: str) -> None:
        """Append a separator, unless nothing stands before it."""
        if self.text:
            self.text = self.text.rstrip(" \n") + text


def cap(text: str) -> str:
    """A capital first letter, except where the word has its own spelling (eGFR)."""
    first = text.split(" ", 1)[0]
    return text if any(letter.isupper() for letter in first[1:]) else text[:1].upper() + text[1:]


def spoken(value: str | date, key: str, style: int) -> str:
    """A slot as an answer writes it; dates in one of four styles, onsets without their day."""
    if not isinstance(value, date):
        return value
    month = MONTHS[value.month - 1]
    if key == "onset":
        return (f"{month} {value.year}", str(value.year))[style % 2]
    return (
        value.isoformat(),
        f"{value.day} {month} {value.year}",
        f"{month} {value.day}, {value.year}",
        f"{value.day} {month[:3]} {value.year}",
    )[style]


def called(patient: Patient | None, way: str) -> dict[str, str]:
    """Subject, possessive and object forms of a patient."""
    if patient is None:
        return {}
    she, her, obj = ("she", "her", "her") if patient.female else ("he", "his", "him")
    title = "Ms." if patient.female else "Mr."
    match way:
        case "pronoun":
            return {"S": she, "P": her, "S2": obj}
        case "patient":
            return {"S": "the patient", "P": "the patient's", "S2": "the patient"}
        case "title":
            name = f"{title} {patient.last}"
        case _:
            name = patient.name
    return {"S": name, "P": f"{name}'s", "S2": name}


class Writer:
    """Writes one answer over given documents."""

    def __init__(self, rng: Random, documents: list[Document], patients: list[Patient]) -> None:
        self.rng, self.documents, self.patients = rng, documents, patients
        self.style = rng.randrange(4)
        self.answer = Answer()
        self.named: Patient | None = None
        self.used: set[tuple[str, str]] = set()

    # -------------------------------------------------------- wording

    def fill(self, template: str, slots: dict[str, str | date], who: dict[str, str]) -> str:
        """A template with its slots and subject."""
        words = {key: spoken(value, key, self.style) for key, value in slots.items()}
        text = template.format(**words, **who)
        return re.sub(r" +", " ", text).replace(" ,", ",").replace(" )", ")").strip()

    def full(self, item: Statement) -> str:
        """The statement as it stands alone, with the patient's full name."""
        name = called(item.patient, "name")
        if not item.line:
            return cap(self.fill(item.template, item.slots, name)) + "."
        head, value = split(self.fill(item.template, item.slots, name))
        return f"{cap(head)} ({item.patient.name}): {value}" if item.patient else (
            f"{cap(head)}: {value}")  # fmt: skip

    def supporters(self, kind: str, template: str, slots: Any, patient: Any) -> tuple[str, ...]:
        """Every document that says the same in other slots' names: the right sources."""
        who = called(patient, "name")
        said = self.fill(template, slots, who)
        found = []
        for document in self.documents:
            for fact in document.facts:
                if fact.kind != kind or fact.patient != patient:
                    continue
                try:
                    same = self.fill(template, fact.slots, who) == said
                except KeyError:  # this document knows less about it
                    continue
                if same and document.source_id not in found:
                    found.append(document.source_id)
        return tuple(found)

    # -------------------------------------------------------- true and false statements

    def true(self, document: Document, fact: Fact, line: bool, needs: str = "") -> Statement | None:
        """A faithful statement of a fact."""
        bank = PHRASES[fact.kind]["line" if line else "said"]
        usable = []
        for template in bank:
            # With two patients a sentence must say whom it means.
            vague = len(self.patients) > 1 and fact.patient and not line
            if vague and not re.search(r"\{(S|P|S2)\}", template):
                continue
            if "{" + needs + "}" in template or not needs:
                try:
                    self.fill(template, fact.slots, called(fact.patient, "name"))
                except KeyError:
                    continue
                usable.append(template)
        if not usable:
            return None
        template = self.rng.choice(usable)
        return Statement(
            fact=fact, template=template, slots=fact.slots, patient=fact.patient,
            label="supported", relation="entailment",
            gold=self.supporters(fact.kind, template, fact.slots, fact.patient),
            home=document.credit, citation=document.citation, line=line,
        )  # fmt: skip

    def pool(self, lost: bool = False) -> list[tuple[Document, Fact]]:
        """Facts that the answer has not used yet, in random order."""
        pairs = [
            (document, fact)
            for document in self.documents
            for fact in (document.lost if lost else document.facts)
            if (document.source_id, repr(fact.slots) + fact.kind) not in self.used
        ]
        self.rng.shuffle(pairs)
        return pairs

    def take(self, document: Document, fact: Fact) -> None:
        """Mark a fact as used."""
        self.used.add((document.source_id, repr(fact.slots) + fact.kind))

    def spoil(self, defect: str, line: bool) -> Statement | None:
        """A statement with that defect, or None where the documents allow none."""
        match defect:
            case "wrong_number" | "wrong_date":
                return self.wrong_value(defect, line)
            case "contradicted" | "dropped_negation" | "dropped_qualifier":
                return self.turned(defect)
            case "unsupported" | "not_enough_evidence":
                return self.invented(defect)
            case "wrong_patient":
                return self.wrong_patient()
            case "wrong_source" | "wrong_article":
                return self.wrong_credit(defect, line)
            case "beyond_cut":
                return self.from_lost()
        raise ValueError(defect)

    def wrong_value(self, defect: str, line: bool) -> Statement | None:
        """A value that no source of the trace holds."""
        everything = set(numbers(" ".join(document.text for document in self.documents)))
        for document, fact in self.pool():
            for key in PHRASES[fact.kind]["wrong"]:
                value = fact.slots.get(key)
                is_date = isinstance(value, date) or key in ("year", "quit")
                if value is None or is_date != (defect == "wrong_date"):
                    continue
                right = self.true(document, fact, line, needs=key)
                changed = self.changed(value, key, everything)
                if right is None or changed is None:
                    continue
                self.take(document, fact)
                return replace(
                    right, slots={**fact.slots, key: changed}, label="unsupported",
                    relation="contradiction", defect=defect,
                )  # fmt: skip
        return None

    def changed(self, value: str | date, key: str, taken: set[str]) -> str | date | None:
        """Another value of the same form whose number occurs nowhere in the trace."""
        for _ in range(40):
            if isinstance(value, date):
                step = self.rng.choice([-5, -4, -3, -2, -1, 1, 2, 3])
                # A past event stays in the past.
                year = value.year + (-abs(step) if value.year >= 2023 and key != "done" else step)
                day = value.replace(year=year, day=min(value.day, 28))
                if key != "onset":
                    day += timedelta(days=self.rng.randrange(-90, 90))
                if str(day.year) not in taken:
                    return day
                continue
            found = re.search(r"\d[\d,]*(?:\.\d+)?", value)
            if found is None:
                return None
            old = found.group().replace(",", "")
            decimals = len(old.partition(".")[2])
            if key in ("year", "quit"):
                number = f"{int(old) + self.rng.choice([-6, -4, -3, -2, -1, 1, 2, 3])}"
            elif key == "pmid":
                number = f"{int(old) + self.rng.choice([90, 1010, 30300, -400, -70070])}"
            else:
                near = (0.8, 0.85, 0.9, 1.1, 1.15, 1.2)  # a laboratory value stays plausible
                far = (0.5, 0.6, 0.75, 0.8, 1.2, 1.3, 1.5, 2, 2.5, 3)
                scale = self.rng.choice(near if key in ("value", "before", "bp", "kg") else far)
                number = f"{float(old) * scale:.{decimals}f}"
                if "," in found.group():
                    number = f"{int(number):,}"
            new = value[: found.start()] + number + value[found.end() :]
            if float(number.replace(",", "")) > 0 and not set(numbers(number)) & taken:
                return new
        return None

    def turned(self, defect: str) -> Statement | None:
        """The opposite, or the same without its qualifier or its negation."""
        for document, fact in self.pool():
            bank = PHRASES[fact.kind]
            if (fact.kind == "negative") != (defect == "dropped_negation"):
                continue
            wordings = bank.get("bare", []) if defect == "dropped_qualifier" else bank["flip"]
            if fact.kind == "lab" and fact.slots["flag"] == "normal":
                wordings = [w for w in wordings if "normal" not in w and "within" not in w]
            if len(self.patients) > 1 and fact.patient:
                wordings = [w for w in wordings if re.search(r"\{(S|P|S2)\}", w)]
            if fact.kind == "allergy":
                wordings = [w for w in wordings if "{substance}" in w]
            if not wordings:
                continue
            template = self.rng.choice(wordings)
            try:
                gold = self.supporters(fact.kind, template, fact.slots, fact.patient)
            except KeyError:
                continue
            self.take(document, fact)
            bare = defect == "dropped_qualifier"
            return Statement(
                fact=fact, template=template, slots=fact.slots, patient=fact.patient,
                label="unsupported" if bare else "contradicted",
                relation="neutral" if bare else "contradiction", gold=gold,
                home=document.credit, citation=document.citation, defect=defect,
            )  # fmt: skip
        return None

    def invented(self, defect: str) -> Statement | None:
        """Something that no tool said."""
        rng, bank = self.rng, PHRASES["unknown"]
        everything = " ".join(document.text for document in self.documents).lower()
        patient = rng.choice(self.patients) if self.patients else None
        charts = [d for d in self.documents if d.family == "patient_record" and d.facts]
        if defect == "unsupported":
            charts = [
                d for d in charts if d.patient == patient and d.tool_name != "count_resources"
            ]
            if patient is None or not charts:
                return None
            profile = rng.choice([p for p in FACTS["profile"] if p["cond"] not in everything])
            drug = pick_drug(rng, rng.choice(profile["drugs"]))
            proc = rng.choice(FACTS["common"]["procedures"])
            if drug["drug"] in everything or proc in everything:
                return None
            slots: dict[str, str | date] = {**drug, "cond": profile["cond"], "proc": proc}
            return Statement(
                fact=None, template=rng.choice(bank["chart_extra"]), slots=slots, patient=patient,
                label="unsupported", relation="neutral", gold=(charts[0].source_id,),
                home="patient_record", defect=defect,
            )  # fmt: skip
        if patient is not None and rng.random() < 0.55:
            slots = {"job": rng.choice(FACTS["common"]["occupations"])}
            template = rng.choice(bank["patient"])
        else:
            slots, template, patient = {}, rng.choice(bank["general"]), None
        return Statement(
            fact=None, template=template, slots=slots, patient=patient, gold=(), home=None,
            label="not_enough_evidence", relation="neutral", defect=defect,
        )  # fmt: skip

    def wrong_patient(self) -> Statement | None:
        """A fact of one patient's chart told of the other."""
        for document, fact in self.pool():
            others = [p for p in self.patients if p != fact.patient]
            if fact.patient is None or not others or fact.kind in ("birth", "plan", "count"):
                continue
            other = self.rng.choice(others)
            theirs = [d for d in self.documents if d.patient == other and d.facts]
            if not theirs or any(holds(d.text, fact) for d in theirs):
                continue
            right = self.true(document, fact, False)
            if right is None or not set(re.findall(r"\{(\w+)\}", right.template)) & {
                "S",
                "P",
                "S2",
            }:
                continue
            if any(twin.kind == fact.kind and self.fill(right.template, twin.slots, called(other,
                   "name")) == self.fill(right.template, fact.slots, called(other, "name"))
                   for d in theirs for twin in d.facts):  # fmt: skip
                continue
            self.take(document, fact)
            same = [d for d in theirs if d.family == document.family] or theirs
            return replace(
                right, patient=other, label="unsupported", relation="neutral",
                gold=(same[0].source_id,), defect="wrong_patient",
            )  # fmt: skip
        return None

    def wrong_credit(self, defect: str, line: bool) -> Statement | None:
        """A true statement that credits a source that does not say it."""
        present = {document.credit for document in self.documents if document.facts}
        for document, fact in self.pool():
            if fact.kind in ("birth", "citation", "limitation", "population", "followup"):
                continue
            right = self.true(document, fact, line and defect == "wrong_source")
            if right is None or len(right.gold) > 1 or LISTED.search(right.template.lower()):
                continue
            if defect == "wrong_article":
                others = [
                    d for d in self.documents
                    if d.citation and d.facts and document.citation
                    and d.citation["author"] != document.citation["author"]
                ]  # fmt: skip
                if fact.kind == "effect" or not others:
                    continue
                chosen = self.rng.choice(others)
                self.take(document, fact)
                return replace(
                    right, credit="literature", citation=chosen.citation, named_article=True,
                    defect="wrong_article",
                )  # fmt: skip
            wrong = [key for key in CELLS if not alike(key, document.credit)]
            if present - {document.credit} and self.rng.random() < 0.85:
                wrong = [key for key in wrong if key in present] or wrong
            else:
                back = "literature" if fact.patient else "patient_record"
                wrong = [key for key in wrong if key == back] or wrong
            credit = self.rng.choice(wrong)
            cited = [d.citation for d in self.documents if d.citation and d.facts]
            self.take(document, fact)
            return replace(
                right, credit=credit, citation=cited[0] if cited else None, defect="wrong_source",
                veiled=not right.line and self.rng.random() < 0.5,
            )  # fmt: skip
        return None

    def from_lost(self) -> Statement | None:
        """A statement that only the missing part of an output could have supported."""
        everything = set(numbers(" ".join(document.text for document in self.documents)))
        for document, fact in self.pool(lost=True):
            for template in self.rng.sample(PHRASES[fact.kind]["said"],
                                            len(PHRASES[fact.kind]["said"])):  # fmt: skip
                try:
                    said = self.fill(template, fact.slots, called(fact.patient, "name"))
                except KeyError:
                    continue
                if set(numbers(said)) - everything:
                    self.take(document, fact)
                    return Statement(
                        fact=fact, template=template, slots=fact.slots, patient=fact.patient,
                        label="not_enough_evidence", relation="neutral", gold=(),
                        home=document.credit, citation=document.citation,
                        defect="beyond_cut" if document.status == "truncated" else "from_nothing",
                    )  # fmt: skip
        return None

    # -------------------------------------------------------- credit

    def credited(self, item: Statement, chance: float) -> Statement:
        """The statement with a rightly stated source, by chance."""
        if item.credit or item.home is None or item.line or self.rng.random() > chance:
            return item
        credit = item.home
        if credit == "lab" and self.rng.random() < 0.2:
            credit = "patient_record"
        several = sum(1 for d in self.documents if d.citation and d.facts) > 1
        return replace(
            item, credit=credit, veiled=self.rng.random() < 0.35,
            named_article=credit == "literature" and several and self.rng.random() < 0.7
            and item.fact is not None and item.fact.kind != "citation",
        )  # fmt: skip

    def credit_words(self, item: Statement, who: dict[str, str]) -> tuple[str, str]:
        """Words before and after the statement that credit a source."""
        if item.credit is None:
            return "", ""
        c = item.citation or {}
        if item.named_article:
            forms = [
                "{author} et al. ({year}) report that ", "In the study by {author} and colleagues, ",
                "The {author} paper states that ", "According to {author} et al., ",
                "As {author} and co-workers describe, ", "From the {year} article by {author}: ",
            ]  # fmt: skip
            return self.rng.choice(forms).format(**c), ""
        cites = item.fact is not None and item.fact.kind == "citation"
        bank = PHRASES["credit"]["citation" if cites else item.credit]
        tools = [d.tool_name for d in self.documents if d.source_id in item.gold]
        if item.defect == "wrong_source" or not tools:
            tools = [d.tool_name for d in self.documents if d.credit == item.credit]
        known = {**(who or {"P": "the patient's"}), **c} | ({"tool": tools[0]} if tools else {})
        form = "veiled" if item.veiled else "suffix" if self.rng.random() < 0.3 else "prefix"
        fitting = [w for w in bank[form] if set(re.findall(r"\{(\w+)\}", w)) <= set(known)]
        words = self.rng.choice(fitting).format(**known)
        return ("", words) if form == "suffix" else (words, "")

    # -------------------------------------------------------- writing

    def subject(self, patient: Patient | None) -> dict[str, str]:
        """How the patient is called here; a first mention, and two patients, need a name."""
        if patient is None:
            return {}
        several = len(self.patients) > 1
        if self.named != patient:
            self.named = patient
            return called(patient, "name" if self.rng.random() < 0.7 else "title")
        if several:
            return called(patient, self.rng.choice(["name", "title"]))
        return called(patient, self.rng.choice(["pronoun", "pronoun", "patient", "title"]))

    def put(
        self, item: Statement, *, opening: bool = True, end: str = ".",
        filed: tuple[str, int, int, str] | None = None,
    ) -> None:  # fmt: skip
        """Write a sentence; ``filed`` is the heading it stands under: text, place, credit key."""
        who = self.subject(item.patient)
        before, after = self.credit_words(item, who)
        core = self.fill(item.template, item.slots, who)
        stated = None
        if before:
            connects = cap(before) if opening else before
            start, stop = self.answer.add(connects)
            shown = connects.rstrip(" ,:")
            stated = (shown, start, start + len(shown))
            if before.rstrip().endswith((".", "!")):
                core = cap(core)
        elif opening:
            core = cap(core)
        start, stop = self.answer.add(core)
        if after:
            shown = after.strip(" ,–")
            at, _ = self.answer.add(after)
            at += after.index(shown)
            stated = (shown, at, at + len(shown))
        self.answer.add(end)
        credit = item.credit
        if stated is None and filed is not None:
            stated, credit = filed[:3], filed[3]
        self.record(item, start, stop, stated, credit)

    def put_line(
        self, item: Statement, form: str, filed: tuple[str, int, int, str] | None = None
    ) -> None:
        """Write a ``label: value`` line."""
        head, value = split(self.fill(item.template, item.slots, called(item.patient, "name")))
        start, stop = self.answer.add(form.format(head=cap(head), value=value))
        self.record(item, start, stop, filed[:3] if filed else None, filed[3] if filed else None)

    def record(
        self, item: Statement, start: int, stop: int, stated: Any, credit: str | None
    ) -> None:
        """Remember the gold of a claim that stands at a place of the answer."""
        own = LISTED.search(self.answer.text, start, stop)
        if stated is None and own:  # "her problem list includes …" names the chart by itself
            stated, credit = (own[0], own.start(), own.end()), "patient_record"
        family = FAMILY.get(credit, credit) if credit else None
        wrong = item.defect == "wrong_article" or (
            credit is not None and item.home is not None and not alike(credit, item.home)
        )
        supported = item.label == "supported"
        attribution = None
        if family is not None:
            attribution = ("conflation" if wrong else "match") if supported else (
                "unavailable" if wrong or item.home is None else "match")  # fmt: skip
        defect = item.defect or ("wrong_source" if supported and wrong else None)
        slices = []
        if stated:
            slices.append("veiled_credit" if item.veiled and item.credit else "stated_credit")
        if item.line:
            slices.append("label_value")
        self.answer.claims.append(
            {
                "said": self.answer.text[start:stop], "start": start, "end": stop,
                "claim": self.full(item), "claim_type": "factual", "label": item.label,
                "relation": item.relation, "gold_source_ids": list(item.gold),
                "stated_attribution": None if stated is None else
                {"text": stated[0], "start": stated[1], "end": stated[2]},
                "stated_family": family, "gold_attribution": attribution, "defect": defect,
                "slices": slices,
            }
        )  # fmt: skip

    def aside(self, kind: str, **slots: str) -> None:
        """Write a sentence that claims nothing checkable."""
        bank = PHRASES["aside"][kind]
        text = self.rng.choice(bank).format(**slots)
        start, stop = self.answer.add(text)
        kinds = {"meta_open": "meta", "meta_close": "meta", "failed": "meta"}
        self.answer.claims.append(
            {
                "said": text, "start": start, "end": stop, "claim": text,
                "claim_type": kinds.get(kind, kind), "label": None, "relation": None,
                "gold_source_ids": [], "stated_attribution": None, "stated_family": None,
                "gold_attribution": None, "defect": None, "slices": ["set_aside"],
            }
        )  # fmt: skip


def alike(first: str, second: str) -> bool:
    """Whether crediting the one for the other is right."""
    return first == second or any(first in pair and second in pair for pair in ALIKE)


def numbers(text: str) -> list[str]:
    """The numbers of a text, none from inside words; 1,204 is 1204, 05 is 5 and March is 3."""
    for number, month in enumerate(MONTHS, start=1):
        text = re.sub(rf"\b{month[:3]}(?:{month[3:]})?\b", str(number), text)
    found = re.findall(r"(?<![A-Za-z\d])\d+(?:,\d{3})*(?:\.\d+)?", text)
    return [f"{float(number.replace(',', '')):.10g}" for number in found]


# ---------------------------------------------------------------- whole answers


def write_answer(
    rng: Random, documents: list[Document], patients: list[Patient], shape: str, defects: list[str]
) -> Answer:
    """An answer over the documents in one shape, with as many of the defects as they allow."""
    writer = Writer(rng, documents, patients)
    lines = shape in ("table", "label_lines")
    items = choose(writer, shape, defects, lines)
    order(rng, items, documents)
    chance = {"prose": 0.6, "paragraphs": 0.6, "bullets": 0.5, "numbered": 0.5, "mixed": 0.45,
              "short": 0.8, "headings": 0.12}.get(shape, 0.0)  # fmt: skip
    items = [writer.credited(item, chance) for item in items]
    if shape != "short" and rng.random() < 0.3:
        writer.aside("meta_open")
        writer.answer.add("\n\n" if shape not in ("prose",) else " ")
    LAYOUTS[shape](writer, items)
    close(writer, shape)
    return writer.answer


def choose(writer: Writer, shape: str, defects: list[str], lines: bool) -> list[Statement]:
    """True statements over all documents, and one for each defect that they allow."""
    rng = writer.rng
    items: list[Statement] = []
    for defect in defects:
        # A "label: value" line has no place for a source, a table row has.
        as_line = lines and rng.random() < 0.7 and (shape == "table" or defect != "wrong_source")
        item = writer.spoil(defect, as_line)
        if item is not None:
            items.append(item)
    wanted = rng.randrange(1, 3) if shape == "short" else rng.randrange(4, 9)
    pairs = writer.pool()
    seen: set[str] = set()
    # Each document is heard once before any is heard twice.
    pairs.sort(key=lambda pair: pair[0].source_id in seen or seen.add(pair[0].source_id) or False)
    seen_texts: set[str] = set()
    for document, fact in pairs:
        if len(items) >= max(wanted, len(items[:3])) or len(items) >= wanted:
            break
        item = writer.true(document, fact, lines)
        if item is None or not item.gold or writer.full(item) in seen_texts:
            continue
        seen_texts.add(writer.full(item))
        writer.take(document, fact)
        items.append(item)
    return items


def order(rng: Random, items: list[Statement], documents: list[Document]) -> None:
    """Mostly document by document, as agents write; sometimes mixed."""
    rng.shuffle(items)
    if rng.random() < 0.75:
        place = {document.credit: number for number, document in enumerate(documents)}
        items.sort(
            key=lambda item: (
                place.get(item.home or "", 99),
                item.patient.name if item.patient else "",
            )
        )


def close(writer: Writer, shape: str) -> None:
    """What agents add at the end."""
    rng = writer.rng
    broken = [d for d in writer.documents if d.status in ("error", "empty")]
    if broken and rng.random() < 0.7:
        writer.answer.gap("\n\n" if shape != "prose" else " ")
        writer.aside("failed", tool=rng.choice(broken).tool_name)
    if shape == "short" and rng.random() < 0.7:
        return
    for kind, chance in (("opinion", 0.08), ("boilerplate", 0.22), ("advice", 0.2),
                         ("meta_close", 0.2), ("question", 0.12)):  # fmt: skip
        if rng.random() < chance:
            running = shape in ("prose", "short") or (shape == "paragraphs" and rng.random() < 0.4)
            writer.answer.gap(" " if running else "\n\n")
            writer.aside(kind)


def sentences(writer: Writer, items: list[Statement]) -> None:
    """Running prose: now and then two statements share a sentence."""
    rng = writer.rng
    links = ("Also, ", "In addition, ", "Besides that, ", "Further, ", "Separately, ", "Next, ")
    skip = False
    for number, item in enumerate(items):
        if skip:
            skip = False
            continue
        following = items[number + 1] if number + 1 < len(items) else None
        joinable = (
            following is not None and item.credit is None and following.credit is None
            and not item.line and not following.line
        )  # fmt: skip
        opening = True
        if number and item.credit is None and rng.random() < 0.15:
            writer.answer.add(rng.choice(links))
            opening = False
        if joinable and following is not None and rng.random() < 0.3:
            writer.put(item, opening=opening, end=rng.choice([", and ", "; ", ", while "]))
            writer.put(following, opening=False)
            skip = True
        else:
            writer.put(item, opening=opening)
        writer.answer.add(" ")
    writer.answer.text = writer.answer.text.rstrip(" ")


def prose(writer: Writer, items: list[Statement]) -> None:
    """One paragraph."""
    sentences(writer, items)


def paragraphs(writer: Writer, items: list[Statement]) -> None:
    """One paragraph a kind of source."""
    for group in grouped(items):
        writer.answer.gap("\n\n")
        sentences(writer, group)


def grouped(items: list[Statement]) -> list[list[Statement]]:
    """The statements by where they belong, in order of first appearance."""
    groups: dict[str | None, list[Statement]] = {}
    for item in items:
        groups.setdefault(item.filed_under or item.home, []).append(item)
    return list(groups.values())


def bullets(writer: Writer, items: list[Statement]) -> None:
    """A list."""
    mark = writer.rng.choice(["- ", "* ", "• ", "– "])
    end = writer.rng.choice([".", ".", "", ";"])
    for item in items:
        writer.answer.add(mark)
        writer.put(item, end=end)
        writer.answer.add("\n")
    writer.answer.text = writer.answer.text.rstrip("\n")


def numbered(writer: Writer, items: list[Statement]) -> None:
    """A numbered list."""
    form = writer.rng.choice(["{n}. ", "{n}) ", "({n}) "])
    for number, item in enumerate(items, start=1):
        writer.answer.add(form.format(n=number))
        writer.put(item)
        writer.answer.add("\n")
    writer.answer.text = writer.answer.text.rstrip("\n")


def table(writer: Writer, items: list[Statement]) -> None:
    """A table, often with a column that names the source; what is no row follows as prose."""
    rng = writer.rng
    rows, rest = [i for i in items if i.line], [i for i in items if not i.line]
    sourced = any(item.line and item.credit for item in items) or rng.random() < 0.6
    two = len({item.patient for item in rows if item.patient}) > 1
    head = [*(["Patient"] if two else []), rng.choice(["Item", "Topic", "Field", "Aspect"]),
            rng.choice(["Finding", "Value", "Detail", "Entry"])]  # fmt: skip
    head += [rng.choice(["Source", "From", "Origin"])] if sourced else []
    if rows:
        writer.answer.add("| " + " | ".join(head) + " |\n|" + "---|" * len(head) + "\n")
    for item in rows:
        label, value = split(writer.fill(item.template, item.slots, called(item.patient, "name")))
        writer.answer.add("| ")
        start = len(writer.answer.text)
        if two:
            writer.answer.add((item.patient.name if item.patient else "–") + " | ")
        writer.answer.add(f"{cap(label)} | {value}")
        stop, stated, credit = len(writer.answer.text), None, None
        if sourced and item.home:
            credit = item.credit or item.home
            cell = rng.choice(CELLS[credit])
            writer.answer.add(" | ")
            stated = (cell, *writer.answer.add(cell))
        elif sourced:
            writer.answer.add(" | –")
        writer.answer.add(" |\n")
        writer.record(item, start, stop, stated, credit)
    if rest:
        writer.answer.gap("\n\n")
        sentences(writer, rest)
    else:
        writer.answer.text = writer.answer.text.rstrip("\n")


def label_lines(writer: Writer, items: list[Statement]) -> None:
    """``Label: value`` lines, patient by patient."""
    form = writer.rng.choice(
        ["{head}: {value}", "**{head}:** {value}", "{head} - {value}", "- {head}: {value}"]
    )
    rows, rest = [i for i in items if i.line], [i for i in items if not i.line]
    rows.sort(key=lambda item: item.patient.name if item.patient else "~")
    shown: Patient | None = None
    for item in rows:
        if item.patient is not None and item.patient != shown:
            shown = item.patient
            writer.answer.gap("\n\n")
            writer.answer.add(f"{shown.name} ({shown.mrn})\n")
        writer.put_line(item, form)
        writer.answer.add("\n")
    writer.answer.text = writer.answer.text.rstrip("\n")
    if rest:
        writer.answer.gap("\n\n")
        sentences(writer, rest)


def headings(writer: Writer, items: list[Statement]) -> None:
    """Sections whose headings credit the source of all that stands below."""
    rng = writer.rng
    form = rng.choice(["## {}\n", "**{}**\n", "{}:\n", "### {}\n\n"])
    listed = rng.random() < 0.5
    # A wrong source that is not said in words is a statement under the wrong heading.
    items = [
        replace(item, credit=None, filed_under=item.credit)
        if item.defect == "wrong_source" and not item.veiled else item
        for item in items
    ]  # fmt: skip
    for group in grouped(items):
        writer.answer.gap("\n\n")
        home, filed = group[0].filed_under or group[0].home, None
        if home is None:
            sentences(writer, group)
            continue
        title = rng.choice(PHRASES["credit"][home]["heading"])
        start, _ = writer.answer.add(form.format(title))
        at = writer.answer.text.index(title, start)
        filed = (title, at, at + len(title), home)
        for item in group:
            writer.answer.add("- " if listed else "")
            writer.put(item, filed=filed)
            writer.answer.add("\n" if listed else " ")
        writer.answer.text = writer.answer.text.rstrip(" \n")


def mixed(writer: Writer, items: list[Statement]) -> None:
    """Prose first, then a list."""
    cut = max(1, len(items) // 2)
    sentences(writer, items[:cut])
    if items[cut:]:
        writer.answer.gap("\n\n")
        bullets(writer, items[cut:])


def short(writer: Writer, items: list[Statement]) -> None:
    """A line or two."""
    sentences(writer, items)


LAYOUTS = {
    "prose": prose, "paragraphs": paragraphs, "bullets": bullets, "numbered": numbered,
    "table": table, "label_lines": label_lines, "headings": headings, "mixed": mixed,
    "short": short,
}  # fmt: skip
