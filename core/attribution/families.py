"""Source families: which words of an answer and which tools mean which kind of source (III.6)."""

from __future__ import annotations

import hashlib
import os
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from pathlib import Path

from core.errors import ConfigError
from core.records import Source, Span

ENVIRONMENT_VARIABLE = "PROVENANCEGUARD_FAMILIES"
OTHER = "other"
PATIENT_RECORD = "patient_record"
LITERATURE = "literature"
REGISTRY = "registry"
_TOOL_NAME = re.compile(
    r"(?<![\w/.@])(?:`(?P<quoted>[a-z]\w*(?:[./-]\w+)*)`|(?P<name>[a-z]+(?:\.[a-z]+)?(?:_[a-z0-9]+)+|"
    r"[a-z]+\.(?:fetch|get|search|lookup|query|read|list|find|open|retrieve)\w*))"
    r"(?:\([^()]*\))?(?: (?:tool|call|output|results?))?(?![\w/])"
)
_LEXICON = re.compile(r"\{\{(\w+)\}\}")
_FIELDS = ("label", "aliases", "nouns", "owned", "phrases", "tools", "compatible")


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """One family of ``families.toml``; ``label`` is what a reviewer reads."""

    family_id: str
    label: str
    aliases: tuple[str, ...]
    nouns: tuple[re.Pattern[str], ...]
    owned: tuple[str, ...]
    phrases: tuple[re.Pattern[str], ...]
    tools: tuple[re.Pattern[str], ...]
    compatible: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """Words that name a family; ``span`` is in the text that was searched.

    ``paraphrase`` is True for a phrase such as "a 2019 trial found", which is a credit by itself;
    an alias ("PubMed") is one only where the sentence uses it so.
    """

    family_id: str
    span: Span
    paraphrase: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Families:
    """All families, in the order in which their tool patterns are tried."""

    items: tuple[Family, ...]
    alias_pattern: re.Pattern[str]
    alias_families: Mapping[str, str]
    owned_pattern: re.Pattern[str]
    owned_families: Mapping[str, str]

    @property
    def digest(self) -> str:
        """SHA-256 of all that the file says, so that a verdict names the families it was made with."""
        said = [
            (
                family.family_id,
                family.label,
                family.aliases,
                [pattern.pattern for pattern in family.nouns],
                family.owned,
                [pattern.pattern for pattern in family.phrases],
                [pattern.pattern for pattern in family.tools],
                sorted(family.compatible),
            )
            for family in self.items
        ]
        return hashlib.sha256(repr(said).encode()).hexdigest()

    def family_of(self, source: Source) -> str:
        """The family of a tool output, from its server and tool name; ``other`` when none fits."""
        return self.family_of_tool(source.tool_name, source.server)

    def family_of_tool(self, tool_name: str, server: str | None = None) -> str:
        """The family whose pattern fits the tool's own name, else its server's; else ``other``."""
        # The tool says more than its server: a FHIR server may also offer a literature search.
        for name in (tool_name, server or ""):
            snake = _snake(name)
            # "_" is a letter to regular expressions: \behr\b finds nothing in get_ehr. With spaces in
            # its place it does, while patterns that name whole tools still fit the first form.
            forms = (snake, snake.replace("_", " "))
            for family in self.items:
                if snake and any(p.search(form) for p in family.tools for form in forms):
                    return family.family_id
        return OTHER

    def families_of(self, sources: Iterable[Source]) -> dict[str, str]:
        """source_id → family id."""
        return {source.source_id: self.family_of(source) for source in sources}

    def compatible(self, one: str, other: str) -> bool:
        """Whether crediting one family for the other is right; every family goes with itself."""
        if one == other:
            return True
        return other in self._goes_with(one) or one in self._goes_with(other)

    def label(self, family_id: str) -> str:
        """What a reviewer reads for a family id; the id itself when it is unknown."""
        return next((item.label for item in self.items if item.family_id == family_id), family_id)

    def mentions(self, text: str) -> Iterator[Mention]:
        """Every alias and paraphrase in ``text``, names of sources first, each in order.

        Where two names overlap the longer one counts ("the trial registry" is no trial). A
        paraphrase yields to a name of another family that it is about ("According to DailyMed")
        and to a paraphrase of a family that stands before its own in the file.
        """
        named = _longest([*self._aliased(text), *self._nouns(text)])
        named += [
            _mention(self.owned_families[_folded(match.group("noun"))], match, paraphrase=False)
            for match in self.owned_pattern.finditer(text)
        ]
        yield from named
        said: list[Mention] = []
        for family in self.items:
            for phrase in family.phrases:
                for match in phrase.finditer(text):
                    mention = _mention(family.family_id, match, paraphrase=True)
                    if not any(_yields(text, mention, other) for other in (*named, *said)):
                        said.append(mention)
        yield from said

    def _aliased(self, text: str) -> Iterator[Mention]:
        at = 0
        while (match := self.alias_pattern.search(text, at)) is not None:
            # "the trial" must not hide "trial registry" behind its article.
            bare = re.match(r"the\s", match.group(), re.IGNORECASE)
            longer = self.alias_pattern.match(text, match.start() + 4) if bare else None
            if longer is not None and longer.end() > match.end():
                match = longer
            family_id = self.alias_families[_folded(match.group())]
            yield _mention(family_id, match, paraphrase=False)
            at = match.end()

    def _nouns(self, text: str) -> Iterator[Mention]:
        for family in self.items:
            for noun in family.nouns:
                for match in noun.finditer(text):
                    yield _mention(family.family_id, match, paraphrase=False)
        # A tool by its own name ("search_pubmed") means what the tool's outputs mean.
        for match in _TOOL_NAME.finditer(text):
            family_id = self.family_of_tool(match.group("quoted") or match.group("name"))
            if family_id != OTHER:
                yield _mention(family_id, match, paraphrase=False)

    def _goes_with(self, family_id: str) -> frozenset[str]:
        found = (item.compatible for item in self.items if item.family_id == family_id)
        return next(found, frozenset())


def load_families(path: Path | None = None) -> Families:
    """The families of a TOML file, without a path the site's own, else those of the package.

    A site names its file in PROVENANCEGUARD_FAMILIES, so that every command, page and fit of it
    tells sources apart alike. Raises ConfigError with file and key.
    """
    path = path or of_site()
    return _packaged() if path is None else _of_file(path, _changed(path))


def of_site() -> Path | None:
    """The site's own file, as PROVENANCEGUARD_FAMILIES names it."""
    named = os.environ.get(ENVIRONMENT_VARIABLE, "").strip()
    return Path(named) if named else None


def _changed(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error}") from error


@lru_cache(maxsize=4)
def _of_file(path: Path, changed: int) -> Families:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: cannot be read: {error}") from error
    return read_families(text, str(path))


def read_families(text: str, place: str) -> Families:
    """The families of TOML text; ``place`` is the file that messages name."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{place}: not valid TOML: {error}") from error
    lexicons = _lexicons(document.pop("lexicons", {}), place)
    items = tuple(_family(key, table, lexicons, place) for key, table in document.items())
    known = {item.family_id for item in items}
    if OTHER not in known:
        raise ConfigError(f"{place}: {OTHER}: expected this family, found none")
    for item in items:
        for name in sorted(item.compatible - known):
            raise ConfigError(f"{place}: {item.family_id}.compatible: no family is called {name!r}")
    alias_families: dict[str, str] = {}
    for item in items:
        for alias in item.aliases:
            alias_families.setdefault(alias, item.family_id)
    owned_families: dict[str, str] = {}
    for item in items:
        for noun in item.owned:
            owned_families.setdefault(noun, item.family_id)
    return Families(
        items=items,
        alias_pattern=_alias_pattern(alias_families),
        alias_families=alias_families,
        owned_pattern=_owned_pattern(owned_families),
        owned_families=owned_families,
    )


@lru_cache(maxsize=1)
def _packaged() -> Families:
    packaged = resources.files("core.attribution").joinpath("lexicons/families.toml")
    return read_families(packaged.read_text(encoding="utf-8"), "families.toml")


def _lexicons(table: object, place: str) -> Mapping[str, str]:
    """Each named word list as the body of an alternation, which patterns name as ``{{name}}``."""
    if not isinstance(table, dict):
        raise ConfigError(f"{place}: lexicons: expected a table of word lists, found {table!r}")
    return {name: "|".join(_texts(table, "lexicons", name, place)) for name in table}


def _family(key: str, table: object, lexicons: Mapping[str, str], place: str) -> Family:
    if not isinstance(table, dict):
        raise ConfigError(f"{place}: {key}: expected a table, found {table!r}")
    for name in table:
        if name not in _FIELDS:
            raise ConfigError(
                f"{place}: {key}.{name}: unknown, expected one of {', '.join(_FIELDS)}"
            )
    label = table.get("label", key.replace("_", " "))
    if not isinstance(label, str):
        raise ConfigError(f"{place}: {key}.label: expected text, found {label!r}")
    return Family(
        family_id=key,
        label=label,
        aliases=tuple(
            " ".join(alias.casefold().split()) for alias in _texts(table, key, "aliases", place)
        ),
        nouns=_patterns(table, key, "nouns", place, lexicons),
        owned=tuple(
            " ".join(noun.casefold().split()) for noun in _texts(table, key, "owned", place)
        ),
        phrases=_patterns(table, key, "phrases", place, lexicons),
        tools=_patterns(table, key, "tools", place, lexicons),
        compatible=frozenset(_texts(table, key, "compatible", place)),
    )


def _texts(table: Mapping[str, object], key: str, name: str, place: str) -> tuple[str, ...]:
    value = table.get(name, [])
    if not isinstance(value, list):
        raise ConfigError(f"{place}: {key}.{name}: expected a list of texts, found {value!r}")
    for index, item in enumerate(value):
        if not isinstance(item, str) or not item.strip():
            raise ConfigError(f"{place}: {key}.{name}[{index}]: expected text, found {item!r}")
    return tuple(value)


def _patterns(
    table: Mapping[str, object], key: str, name: str, place: str, lexicons: Mapping[str, str]
) -> tuple[re.Pattern[str], ...]:
    patterns = []
    for index, text in enumerate(_texts(table, key, name, place)):
        for used in _LEXICON.findall(text):
            if used not in lexicons:
                raise ConfigError(f"{place}: {key}.{name}[{index}]: no lexicon is called {used!r}")
            text = text.replace("{{" + used + "}}", lexicons[used])
        try:
            # "et al." needs its capital letter; the rest reads the same in any case.
            patterns.append(re.compile(text, re.NOFLAG if "[A-Z]" in text else re.IGNORECASE))
        except re.error as error:
            raise ConfigError(f"{place}: {key}.{name}[{index}]: {error} in {text!r}") from error
    return tuple(patterns)


def _alias_pattern(aliases: Mapping[str, str]) -> re.Pattern[str]:
    ordered = sorted(aliases, key=lambda alias: (-len(alias), alias))
    bodies = (r"\s".join(re.escape(word) for word in alias.split()) for alias in ordered)
    # A name inside a URL or a path ("someone.github.io") credits nothing.
    return re.compile(
        r"(?<![\w/.@])(?:" + ("|".join(bodies) or r"(?!)") + r")(?![\w/@]|\.\w)", re.IGNORECASE
    )


def _owned_pattern(nouns: Mapping[str, str]) -> re.Pattern[str]:
    """ "her file", "Ms. Lind's clinic notes": nouns that name a source only behind whose they are."""
    ordered = sorted(nouns, key=lambda noun: (-len(noun), noun))
    bodies = "|".join(r"\s".join(re.escape(word) for word in noun.split()) for noun in ordered)
    return re.compile(
        # Whose a "file" is decides: a company's records and a project's documentation are no chart.
        r"(?<![\w/.@'’-])(?:his|her|their|patient['’]s|patients['’]|[a-z]{3,20}ologist['’]s|"
        r"(?:physician|doctor|nurse|clinician|surgeon|gp|specialist|team|clinic|ward)['’]s|"
        r"(?:Mr|Mrs|Ms|Miss|Dr)\.?\s(?-i:[A-Z])[\w-]{0,30}['’]s?|"
        r"(?-i:[A-Z])[\w-]{1,30}\s(?-i:[A-Z])[\w-]{1,30}['’]s?)\s(?:[\w-]{1,20}\s){0,2}?"
        r"(?P<noun>" + (bodies or r"(?!)") + r")(?![\w/@]|\.\w|\s(?:number|no\b|id\b))",
        re.IGNORECASE,
    )


def _folded(words: str) -> str:
    return " ".join(words.casefold().split())


def _longest(mentions: list[Mention]) -> list[Mention]:
    """Without those that a longer one overlaps; of equals the first stays."""
    kept: list[Mention] = []
    for mention in sorted(
        mentions, key=lambda m: (m.span.start - m.span.end, m.span.start, m.paraphrase)
    ):
        if not any(mention.span.overlaps(other.span) for other in kept):
            kept.append(mention)
    return sorted(kept, key=lambda mention: mention.span.start)


def _yields(text: str, said: Mention, other: Mention) -> bool:
    if said.family_id == other.family_id or not said.span.overlaps(other.span):
        return False
    shared = min(said.span.end, other.span.end) - max(said.span.start, other.span.start)
    mostly = 2 * shared >= said.span.end - said.span.start
    lead = text[said.span.start : max(said.span.start, other.span.start)]
    opens = re.fullmatch(r"(?:as|per|according to)\s(?:the\s)?", lead, re.IGNORECASE) is not None
    return other.paraphrase or mostly or opens


def _mention(family_id: str, match: re.Match[str], *, paraphrase: bool) -> Mention:
    span = Span(start=match.start(), end=match.end())
    return Mention(family_id=family_id, span=span, paraphrase=paraphrase)


def _snake(name: str) -> str:
    """``GetPatientLabs`` and ``get-patient-labs`` as ``get_patient_labs``."""
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    return re.sub(r"[\s.:-]+", "_", parted).lower()
