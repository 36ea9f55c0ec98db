"""Words of clinical names from packages: drugs with their trade names, and disorders of ICD-10-CM.

Both are read on first use from the installed packages' data files and stay in memory; a name that
they do not know is compared by its words.
"""

from __future__ import annotations

import bz2
import hashlib
import io
import pickle
import re
import tomllib
from functools import lru_cache
from importlib import resources, util
from pathlib import Path

# drug-named-entity-recognition 2.0.9
DRUG_DICTIONARY_SHA256 = "ec10a1c7b633fc4bae8d0eecff053892c0e37f49e18eaf59c8a1e9f40fc80d9d"

# Names that are also laboratory values, common words or classes: no drug by themselves.
_NOT_DRUGS = frozenset(
    "potassium sodium calcium glucose iron lead water alcohol ethanol oxygen magnesium chloride zinc "
    "phosphate bicarbonate creatinine urea cholesterol triglycerides albumin hemoglobin protein "
    "carbon gold silver copper tin amber silk soot heme air sugar salt coffee tea tobacco nicotine "
    "nitrogen hydrogen lactate insulin-like testosterone cortisol estradiol progesterone "
    "prolactin thyroid acid vitamin pro in e vaccine serum plasma antibody antibodies allergen food "
    "lens contact control patient today pain relief complete advance advanced care plus one total "
    "balance basic perform equal honey cold relief fever cough dust pollen latex cocaine cannabis "
    "opium "
    "thrombin renin collagen histamine bilirubin ferritin urate uric cysteine folate".split()
)
_CLASS = re.compile(
    r"(?:agents|inhibitors|antagonists|blockers|drugs|compounds|products)\b|(?<!ae)s\Z"
)
_STEMS = re.compile(
    r"[a-z]{3,}(?:pril|sartan|olol|statin|gliptin|gliflozin|glutide|dipine|prazole|cillin|mycin|"
    r"floxacin|azole|oxetine|triptyline|azepam|azolam|xaban|gatran|parin|tidine|setron|triptan|"
    r"mab|tinib|profen|coxib|thiazide|semide|vir|cycline|barbital|zosin|terol|tropium|glitazone)"
)
_GENERIC = frozenset(
    "unspecified other with without due to of the and or in by not elsewhere classified left right "
    "initial encounter subsequent sequela type disease disorder syndrome condition site part body "
    "specified for from on at is are as its both this that any all no non status history family "
    "personal current long term use single multiple related during first second third stage "
    "level region area side upper lower anterior posterior lateral medial old new high low first "
    "age adult child normal abnormal finding findings result results test tests blood pressure "
    "brother sister mother father entry entries three two one visit record file list medication "
    "drug drugs therapy treatment procedure care need needs person problem problems home work "
    "little few several many much more most food there here same onset march may june july august "
    "april day days week month year years "
    "time times score scale hit three remaining only each these those than then when which while "
    "loss gain weight increased decreased pain".split()
)


@lru_cache(maxsize=1)
def drug_names() -> dict[str, str]:
    """Single-word drug and trade names with the ingredient each stands for; empty when not installed."""
    path = _data_file("drug_named_entity_recognition", "drug_ner_dictionary.pkl.bz2")
    packed = path.read_bytes() if path is not None else b""
    # Like weights, it is opened only under the digest that was looked at; another release's names
    # are not used, and clinical names are then compared by their words.
    if hashlib.sha256(packed).hexdigest() != DRUG_DICTIONARY_SHA256:
        return {}
    data = _PlainUnpickler(io.BytesIO(bz2.decompress(packed))).load()
    listed = data["drug_variant_to_variant_data"]
    names: dict[str, str] = {}
    for variant, found in data["drug_variant_to_canonical"].items():
        ingredient = found[0]
        # Ingredients of medicines' patient information; the rest of the dictionary is chemicals.
        if not re.fullmatch(r"[a-z]{4,}", variant) or variant in _NOT_DRUGS:
            continue
        if ingredient in listed and ingredient not in _NOT_DRUGS and not _CLASS.search(ingredient):
            names[variant] = ingredient
    return names


class _PlainUnpickler(pickle.Unpickler):
    """Loads dictionaries, lists and text, and nothing that runs code."""

    def find_class(self, module: str, name: str) -> object:
        raise pickle.UnpicklingError(f"{module}.{name}: a vocabulary holds plain values only")


@lru_cache(maxsize=1)
def _ingredients() -> frozenset[str]:
    return frozenset(drug_names().values())


def is_drug(word: str) -> bool:
    """Whether a word in lower case names a drug, by the vocabulary or by its INN stem."""
    known = word in drug_names() or word in _ingredients()
    return known or (word not in _NOT_DRUGS and _STEMS.fullmatch(word) is not None)


@lru_cache(maxsize=1)
def disorder_words() -> frozenset[str]:
    """Words of ICD-10-CM's titles and inclusion terms, in lower case; empty when not installed."""
    folder = _data_file("simple_icd_10_cm", "data")
    files = sorted(folder.glob("*tabular*.xml")) if folder is not None else []
    if not files:
        return frozenset()
    text = files[-1].read_text("utf-8")
    # Chapters 1 to 17 name disorders; those behind them injuries' causes and reasons for contact.
    end = text.find('<section id="T07')
    words: set[str] = set()
    for match in re.finditer(r"<desc>([^<]*)|<note>([^<]*)", text[: end if end > 0 else len(text)]):
        words.update(re.findall(r"[a-z]{4,}", (match.group(1) or match.group(2) or "").casefold()))
    return frozenset(words - _GENERIC)


def _data_file(package: str, name: str) -> Path | None:
    # Found without importing: one package's import takes seconds for what is not needed here.
    spec = util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        return None
    path = Path(spec.submodule_search_locations[0]) / name
    return path if path.exists() else None


@lru_cache(maxsize=1)
def synonyms() -> dict[str, tuple[str, bool]]:
    """Each form with the words it stands for, and whether it is read only in capitals."""
    raw = tomllib.loads(
        resources.files("core.evidence.chart").joinpath("lexicons/synonyms.toml").read_text("utf-8")
    )["synonyms"]
    forms: dict[str, tuple[str, bool]] = {}
    for meant, listed in raw.items():
        for form in listed:
            exact = form.isupper()
            forms[form if exact else form.casefold()] = (meant, exact)
    return forms
