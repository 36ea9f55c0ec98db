"""Which publication of a trace an author's or a trial's name means (III.6)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from core.attribution.families import Families
from core.records import Source, Span

_NAME = r"[A-Z][\w’'-]*[a-zA-Z][\w’'-]*"
# "Ginger (Lombardi 2018)", "Also from Lombardi:"
_BYLINE = re.compile(
    rf"\((?P<dated>{_NAME})(?: et al\.?| and (?:colleagues|co-?workers|others))?,? (?:19|20)\d\d[a-z]?\)"
    rf"|\b(?:from|by|per|according to) (?P<plain>{_NAME})(?: et al\.?)?(?=[:,])",
    re.IGNORECASE,
)
_COMMON = frozenset(
    "according also another article articles authors based both colleagues data evidence findings from "
    "further investigators journal looking multiple paper papers recent report researchers results "
    "review several source studies study that their these this those three trial trials with".split()
)
_RECORD_ID = re.compile(r"\bNCT\d{8}\b|\b10\.\d{4,9}/[^\s\"<>]{3,80}|(?<![\w.])\d{7,8}(?!\w|\.\d)")
_SEARCHED = 200_000  # characters of a source in which a name is looked for


class Bylines:
    """The names in the publications of one trace; each name is looked up once."""

    def __init__(self, sources: Sequence[Source], families: Families) -> None:
        # "Published evidence" and "PubMed" name a kind of source, whatever a record holds.
        self._kinds = frozenset(
            word
            for phrase in families.alias_families
            for word in re.findall(r"[a-z]{3,}", phrase.casefold())
        )
        self._texts = {source.source_id: source.text[:_SEARCHED] for source in sources}
        self._holders: dict[str, frozenset[str]] = {}
        self._ids: dict[str, frozenset[str]] = {}

    def byline(self, text: str) -> Span | None:
        """Where a sentence names an author of a publication as its source; None where it does not."""
        for match in _BYLINE.finditer(text):
            name = match.group("dated") or match.group("plain")
            if name[0].isupper() and self._held_by(name):
                return Span(start=match.start(), end=match.end())
        return None

    def sources_meant(self, credit: str) -> tuple[str, ...]:
        """The sources about the one publication whose authors a credit names; none when several are.

        First those that hold every known name, then others with a record id of theirs: a search
        result, the abstract and the metadata of one article are one publication. In trace order.
        """
        held = [holders for name in _names(credit) if (holders := self._held_by(name))]
        if not held:
            return ()
        holders = frozenset.intersection(*held)
        named = [source_id for source_id in self._texts if source_id in holders]
        ids = [self._record_ids(source_id) for source_id in named]
        # Two sources that hold the name and share no record may be two publications.
        if not named or (len(named) > 1 and not frozenset.intersection(*ids)):
            return ()
        known = frozenset.intersection(*ids)
        also = [o for o in self._texts if o not in holders and known & self._record_ids(o)]
        return (*named, *also)

    def _held_by(self, name: str) -> frozenset[str]:
        if name not in self._holders:
            written = re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])")
            # A word that the publications also write in lower case is no name.
            common = re.compile(rf"(?<![\w-]){re.escape(name.lower())}(?![\w-])")
            texts = self._texts.items()
            known = len(name) >= 3 and name.lower() not in _COMMON | self._kinds
            if not known or any(common.search(text) for _, text in texts):
                self._holders[name] = frozenset()
            else:
                self._holders[name] = frozenset(one for one, text in texts if written.search(text))
        return self._holders[name]

    def _record_ids(self, source_id: str) -> frozenset[str]:
        if source_id not in self._ids:
            self._ids[source_id] = frozenset(_RECORD_ID.findall(self._texts[source_id]))
        return self._ids[source_id]


def _names(credit: str) -> list[str]:
    return [re.sub(r"['’]s?\Z", "", name) for name in re.findall(_NAME, credit[:300])][:8]
