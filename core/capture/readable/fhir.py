"""FHIR resources as lines that a clinician reads: names, values with units, dates, patients by name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

from core.capture.readable.layers import Line, Value, joined
from core.capture.readable.nodes import Kind

_PATIENT_KEYS = ("subject", "patient", "beneficiary")
_SKIPPED = {"resourceType", "meta", "fullUrl", "implicitRules", "language", "text"}
_VALUE_KEYS = (
    "valueQuantity", "valueCodeableConcept", "valueString", "valueBoolean", "valueInteger",
    "valueRange", "valueRatio", "valueDateTime", "valueTime", "valuePeriod", "valueSampledData",
)  # fmt: skip
# What addresses and carries a record and says nothing of it; all else stands in the lines or after.
_MACHINERY = {
    "resourceType", "fullUrl", "link", "search", "request", "response", "url", "reference",
    "version", "versionId", "userSelected", "profile",
}  # fmt: skip
_SAME_THING = {"text", "display", "code", "unit"}
_NAMING_KEYS = ("code", "vaccineCode", "medicationCodeableConcept", "name", "type")
# The data types that a person reads as one thing, by the fields that they may have.
_REFERENCE = {"reference", "display", "type", "identifier", "id"}
_CODING = {"system", "code", "display", "version", "userSelected", "id"}
_QUANTITY = {"value", "unit", "system", "code", "comparator", "currency"}
_STATUSES = re.compile(r"^(?:\w*[sS]tatus|interpretation|referenceRange|dosage\w*|severity)$")
_DATES = re.compile(r"^(?:effective|onset|performed|occurrence|authoredOn|date|period|birthDate)")


def is_fhir(value: Value) -> bool:
    """Whether this object is a FHIR resource."""
    kind = value.node.string("resourceType")
    return bool(kind and kind[0].isupper() and kind.isalnum())


def fhir_blocks(value: Value) -> Iterator[list[Line]]:
    """One list of lines for each resource, a bundle's entries each on their own.

    Every value of it is in a line, save addresses and transport (``_MACHINERY``), a bundle's type,
    a narrative that says to be generated from the rest, and a name that a line has word for word.
    """
    resources = list(_resources(value))
    lookup = _lookup(resources)
    for resource, entry in resources:
        if resource.node.string("resourceType") != "Bundle":
            lines = _Resource(resource, lookup).lines()
            done, before = {"implicitRules", "language"}, ""
        else:
            lines = [(f"bundle {key}: ", part) for key, part in resource.members if key == "total"]
            done, before = {"implicitRules", "language", "type"}, "bundle "
            if lines or _entries(resource):
                done.add("entry")
        narrative = resource.get("text")
        if narrative is not None and narrative.node.string("status") in ("generated", "empty"):
            done.add("text")
        told = [piece for line in lines for piece in line if isinstance(piece, Value)]
        seen = {piece.node.start for piece in told}, {piece.shown for piece in told}
        lines.extend(_rest(resource, before, seen, done))
        if entry is not None and entry.node is not resource.node:
            lines.extend(_rest(entry, "entry.", seen, {"resource"}))
        yield lines


def _rest(
    value: Value, path: str, seen: tuple[set[int], set[str]], done: Iterable[str] = ()
) -> Iterator[Line]:
    """The values below that no line holds, as ``path: value``; ``seen``: places and texts told."""
    for key, part in value.members:
        where = f"{path}{key}"
        if key in done or key in _MACHINERY:
            continue
        for leaf in part.items or [part]:
            if key == "contained" and is_fhir(leaf):
                continue  # a resource of its own
            if leaf.node.members:
                yield from _rest(leaf, f"{where}.", seen)
            elif not (
                leaf.node.start in seen[0]
                or leaf.broke_off
                or leaf.node.is_word("null")
                or (key == "system" and ":" in leaf.shown)
                or (key in _SAME_THING and leaf.shown in seen[1])
            ):
                yield (f"{where}: ", leaf, *([" (none listed)"] if leaf.is_empty else []))


def plain_entries(value: Value) -> Iterator[Value]:
    """The entries of a bundle that name no resource, as tools abridge them (``{"Patient": {…}}``):
    they are read as any record is, for what is left out would be no evidence."""
    for entry in _entries(value):
        if _resource_of(entry) is None:
            yield entry


def _entries(value: Value) -> Sequence[Value]:
    entries = value.get("entry") if value.node.string("resourceType") == "Bundle" else None
    return entries.items if entries else ()


def _resource_of(entry: Value) -> Value | None:
    """The resource of an entry, or the entry where it is one itself."""
    resource = entry.get("resource")
    if resource is not None and is_fhir(resource):
        return resource
    return entry if is_fhir(entry) else None


def _resources(value: Value, entry: Value | None = None) -> Iterator[tuple[Value, Value | None]]:
    """Each resource with the entry that holds it, a bundle's own first."""
    yield value, entry
    for entry in _entries(value):
        resource = _resource_of(entry)
        if resource is not None:
            yield from _resources(resource, entry)
    contained = value.get("contained")
    for resource in contained.items if contained else []:
        if is_fhir(resource):
            yield resource, None


def _lookup(resources: list[tuple[Value, Value | None]]) -> Mapping[str, Value]:
    found: dict[str, Value] = {}
    for resource, entry in resources:
        full_url = entry.get("fullUrl") if entry is not None else None
        identity = resource.node.string("id")
        if identity:
            kind = resource.node.string("resourceType")
            for name in (f"{kind}/{identity}", f"urn:uuid:{identity}", f"#{identity}"):
                found.setdefault(name, resource)
        if full_url is not None:
            found.setdefault(full_url.node.value, resource)
    return found


class _Resource:
    """The lines of one resource; references are looked up in the bundle around it."""

    def __init__(self, value: Value, lookup: Mapping[str, Value]) -> None:
        self.value, self.lookup = value, lookup
        self.codes: list[Line] = []

    def lines(self) -> list[Line]:
        kind = self.value.get("resourceType")
        assert kind is not None
        lines: list[Line] = []
        done = {"contained"}
        for key in _PATIENT_KEYS:
            who = self.value.get(key)
            if who is not None and (pieces := self.simple(who)):
                lines.append(("patient: ", *pieces))
                done.add(key)
        lines.append(self.headline(kind, done))
        for key, part in sorted(self.value.members, key=_place):
            if key not in done and key not in _SKIPPED:
                lines.extend(self.field(key, part))
        return [*lines, *self.codes]

    def headline(self, kind: Value, done: set[str]) -> Line:
        """``Body Height: 168.8 cm`` for a measurement, ``Condition: Asthma`` for the rest."""
        for key in _NAMING_KEYS:
            naming = self.value.get(key)
            if naming is None:
                continue
            name = self.simple(naming.items[0] if naming.items else naming)
            if not name:
                continue
            if len(naming.items) < 2:
                done.add(key)
            self.codes = [("code: ", code) for code in _codes(naming)]
            measured = self.measured(self.value, done)
            return (*name, ": ", *measured) if measured else (kind, ": ", *name)
        return ("resource: ", kind)

    def measured(self, value: Value, done: set[str] | None = None) -> Line:
        for key in _VALUE_KEYS:
            part = value.get(key)
            if part is not None and (pieces := self.simple(part)):
                if done is not None:
                    done.add(key)
                return pieces
        return ()

    def field(self, label: str, value: Value, depth: int = 0) -> Iterator[Line]:
        if label.endswith(("component", "component.")) and value.items:
            yield from self.components(value)
            return
        if label.endswith("extension"):
            yield from self.extensions(value)
            return
        codes = _codes(value)
        pieces = self.simple(value)
        if pieces:
            shown = self.shown(pieces)
            yield (f"{label}: ", *pieces)
            named = label if label.lower().endswith("code") else f"{label} code"
            yield from ((f"{named}: ", code) for code in codes if code.shown != shown)
        elif value.node.kind is Kind.ARRAY:
            if value.broke_off:
                return
            if value.is_empty:
                yield (f"{label}: ", value, " (none listed)")
            elif all(self.simple(item) and not _codes(item) for item in value.items):
                listed = [(", ", *self.simple(item)) for item in value.items]
                yield (f"{label}: ", *listed[0][1:], *chain.from_iterable(listed[1:]))
            else:
                for item in value.items:
                    yield from self.field(label, item, depth)
        elif value.node.kind is Kind.OBJECT and depth < 8:
            for key, part in value.members:
                if key not in _SKIPPED or key == "text":
                    yield from self.field(f"{label}.{key}", part, depth + 1)

    @staticmethod
    def shown(pieces: Line) -> str:
        return "".join(piece if isinstance(piece, str) else piece.shown for piece in pieces)

    def components(self, value: Value) -> Iterator[Line]:
        """The two lines of a blood pressure."""
        for item in value.items:
            code = item.get("code")
            name = self.simple(code) if code else ()
            measured = self.measured(item)
            if name and measured:
                yield (*name, ": ", *measured)
            else:
                for key, part in item.members:
                    yield from self.field(f"component {key}", part, 1)

    def extensions(self, value: Value) -> Iterator[Line]:
        for item in value.items:
            url = (item.node.string("url") or "extension").rstrip("/").rsplit("/", 1)[-1]
            nested = item.get("extension")
            if nested is None:
                yield from self.extension_value(url, item)
                continue
            named = [(part.node.string("url"), part) for part in nested.items]
            for name, part in named:
                if name in ("text", None):
                    yield from self.extension_value(url, part)
            if all(name != "text" for name, _ in named):
                for name, part in named:
                    yield from self.extension_value(f"{url}.{name}", part)

    def extension_value(self, label: str, item: Value) -> Iterator[Line]:
        for key, part in item.members:
            if key.startswith("value"):
                yield from self.field(label, part, 4)

    def simple(self, value: Value) -> Line:
        """One line for the FHIR data types that a person reads as one thing; () for others."""
        node = value.node
        if value.broke_off:
            return ()
        if node.kind is Kind.STRING and node.value.startswith(("urn:uuid:", "#")):
            named = self.named(node.value)
            return named or (value,)
        if node.kind not in (Kind.OBJECT, Kind.ARRAY):
            return (value,)
        if node.kind is Kind.ARRAY:
            return self.simple(value.items[0]) if len(value.items) == 1 else ()
        keys = {key for key, _ in node.members}
        if keys & {"reference", "display"} and keys <= _REFERENCE:
            return self.reference(value)
        if "coding" in keys or keys == {"text"}:
            coding = value.get("coding")
            return _parts(value, "text") or (
                self.simple(coding.items[0]) if coding is not None and coding.items else ()
            )
        if "code" in keys and keys <= _CODING:
            return _parts(value, "display") or _parts(value, "code")
        if "value" in keys and keys <= _QUANTITY:
            unit = _parts(value, "unit") or _parts(value, "currency") or _parts(value, "code")
            space: Line = (" ",) if unit else ()
            return (*_parts(value, "comparator"), *_parts(value, "value"), *space, *unit)
        if keys & {"family", "given"}:
            return _parts(value, "text") or _joined(
                value, ("prefix", "given", "family", "suffix"), " "
            )
        if keys & {"start", "end"} and keys <= {"start", "end", "id"}:
            return _joined(value, ("start", "end"), " to ")
        if keys & {"low", "high"} and keys <= {"low", "high"}:
            low, high = value.get("low"), value.get("high")
            ends = [self.simple(end) for end in (low, high) if end is not None]
            return (*ends[0], " to ", *ends[1]) if len(ends) == 2 else ends[0]
        if keys & {"city", "line", "postalCode"}:
            return _parts(value, "text") or _joined(
                value, ("line", "city", "district", "state", "postalCode", "country"), ", "
            )
        return ()

    def reference(self, value: Value) -> Line:
        shown = _parts(value, "display")
        target = value.node.string("reference")
        return shown or (self.named(target) if target else ()) or _parts(value, "reference")

    def named(self, target: str) -> Line:
        """The name of what a reference points at, when the bundle holds it."""
        resource = self.lookup.get(target)
        if resource is None:
            return ()
        for key in ("name", *_NAMING_KEYS, "class"):
            part = resource.get(key)
            if part is None:
                continue
            first = part.items[0] if part.items else part
            if first.node.kind is Kind.STRING and first.node.value.startswith(("urn:uuid:", "#")):
                continue
            if first.get("reference") is not None:  # never from reference to reference
                continue
            if pieces := self.simple(first):
                return pieces
        return ()


def _place(member: tuple[str, Value]) -> int:
    """Dates first, then statuses: they belong in one premise with the value that they qualify."""
    if _DATES.match(member[0]):
        return 0
    return 1 if _STATUSES.match(member[0]) else 2


def _codes(value: Value) -> list[Value]:
    coding = value.get("coding") if value.node.kind is Kind.OBJECT else None
    codes = [item.get("code") for item in coding.items] if coding is not None else []
    return [code for code in codes if code is not None]


def _parts(value: Value, key: str) -> Line:
    part = value.get(key)
    if part is None or part.broke_off or part.node.kind in (Kind.OBJECT, Kind.ARRAY):
        return ()
    return (part,)


def _joined(value: Value, keys: tuple[str, ...], between: str) -> Line:
    parts = (part for key in keys if (part := value.get(key)) is not None)
    items = [item for part in parts for item in (part.items or [part])]
    plain = [item for item in items if item.node.kind not in (Kind.OBJECT, Kind.ARRAY)]
    return joined(plain, between)
