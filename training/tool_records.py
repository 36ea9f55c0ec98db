"""Records of other tools than the chart: articles, counts, formularies, bookings, findings."""

from __future__ import annotations

import random

from training.clinical_kinds import Drawn, Field, Kind, Row, Said, Words, only_present, record_row
from training.clinical_words import (
    CITIES,
    CONDITIONS,
    DOSES,
    DRUGS,
    INTERVENTIONS,
    JOURNALS,
    OUTCOMES,
    but,
    cased,
    draw_date,
    identifier,
    iso,
    near_numbers,
    other_dates,
    other_people,
    spoken_dates,
)


def article(person: str, rng: random.Random) -> Row:
    """What a library says of an article."""
    kind = Kind(name="article", rng=rng)
    drug, outcome = rng.choice(INTERVENTIONS), rng.choice(OUTCOMES)
    words: Words = {
        "drug": drug,
        "outcome": outcome,
        "condition": rng.choice(CONDITIONS),
        "cased_outcome": cased(outcome, rng),
        "any_outcome": lambda: rng.choice(OUTCOMES),
        "any_condition": lambda: rng.choice(CONDITIONS),
        "any_size": lambda: str(rng.randint(40, 900)),
    }
    title = rng.choice(kind.table["titles"]).format_map(Drawn(words))
    journal, year = rng.choice(JOURNALS), rng.randint(1998, 2026)
    pmid = str(rng.randint(10**7, 4 * 10**7))
    doi = f"10.{rng.randint(1000, 9999)}/{rng.choice('abcdefgh')}{rng.randint(100, 9999)}"
    fields = [
        kind.field("title", title, in_case=True),
        kind.field("journal", journal),
        kind.field("year", str(year)),
        kind.field("pmid", pmid),
        kind.field("author", person),
        kind.field("doi", doi),
    ]
    fields = fields[:1] + [field for field in fields[1:] if rng.random() < 0.75]
    spoken = {
        "title": (f'"{title}"', title),
        "journal": (journal,),
        "year": (str(year),),
        "pmid": (pmid,),
        "author": (person,),
        "doi": (doi,),
    }
    others = {
        "journal": but(JOURNALS, journal),
        "year": tuple(str(year + d) for d in (-5, -2, -1, 1, 2)),
        "pmid": (str(int(pmid) + 7), str(rng.randint(10**7, 4 * 10**7))),
        "author": other_people(rng, person),
        "title": (kind.table["other_title"].format_map(Drawn(words)),),
        "doi": (doi + "1",),
    }
    return record_row(kind, fields, only_present(spoken, fields), others, words)


def count(person: str, rng: random.Random) -> Row:
    """How many a search found."""
    kind = Kind(name="count", rng=rng)
    total = rng.choice(kind.table["totals"])
    what = rng.choice(kind.table["kinds"])
    query = rng.choice((*CONDITIONS, *DRUGS))
    fields = [kind.field("query", query), kind.field("total", str(total)), kind.field("kind", what)]
    if rng.random() < 0.5:
        fields.append(kind.field("status", "ok"))
    others: Said = {
        "query": but(CONDITIONS, query),
        "total": tuple(str(total + d) for d in (1, 2, 5, 10)),
    }
    more = rng.choice((1, 2, 5, 10, 25, 100))
    spoken = {"query": (query,), "total": (str(total),), "what": (what,)}
    truths = {"any": total > 0, "more": total > more, "fewer": total < more}
    return record_row(kind, fields, spoken, others, {"what": what, "more": str(more)}, truths)


def formulary(person: str, rng: random.Random) -> Row:
    """What a formulary says of a drug."""
    kind, tiers, ways = (
        Kind(name="formulary", rng=rng),
        ("1", "2", "3", "4"),
        ("required", "not required"),
    )
    drug, tier, limit = rng.choice(DRUGS), rng.choice(tiers), rng.choice(DOSES[3:13])
    prior = rng.choice(ways)
    use = rng.choice(CONDITIONS)
    fields = [
        kind.field("drug", drug),
        kind.field("tier", tier),
        kind.field("prior", prior),
        kind.field("limit", limit),
        kind.field("use", use),
    ]
    fields = fields[:1] + [field for field in fields[1:] if rng.random() < 0.75]
    spoken = {"drug": (drug,), "tier": (tier,), "prior": (prior,), "limit": (limit,), "use": (use,)}
    others = {
        "drug": but(DRUGS, drug),
        "tier": but(tiers, tier),
        "prior": but(ways, prior),
        "limit": but(DOSES, limit),
        "use": but(CONDITIONS, use),
    }
    words: Words = {
        "drug": drug,
        "cased_drug": lambda: cased(drug, rng),
        "any_drug": lambda: rng.choice(DRUGS),
    }
    truths = {"prior": prior == "required"}
    return record_row(kind, fields, only_present(spoken, fields), others, words, truths)


def service(person: str, rng: random.Random) -> Row:
    """Return a record of an everyday tool: a booking, an order, an issue or a forecast."""
    day, city, other = draw_date(rng), rng.choice(CITIES), rng.choice(CITIES)
    ident, amount = identifier(rng), rng.randint(12, 980)
    states = ("confirmed", "cancelled", "pending")
    status = rng.choice(states)
    named = rng.choice(("booking", "order", "issue", "forecast"))
    kind = Kind(name="forecast" if named == "booking" and city == other else named, rng=rng)
    written = {
        "id": ident,
        "who": person,
        "a": city,
        "b": other,
        "day": iso(day),
        "n": str(amount),
        "s": status,
    }
    if kind.name == "booking":
        written["n"] += " USD"
    elif kind.name == "forecast":
        amount %= 38
        written["n"] = f"{amount} C"
    fields = [
        Field(
            slot=row["slot"],
            key=row["keys"][0],
            path=f"{named}.{row['keys'][0].replace(' ', '_')}",
            value=written[row["slot"]],
        )
        for row in kind.table["fields"]
    ]
    spoken: Said = {slot: (value,) for slot, value in written.items()}
    spoken |= {"day": spoken_dates(day), "n": (str(amount),)}
    elsewhere = tuple(c for c in CITIES if c not in (city, other))
    others = {
        "id": (identifier(rng), identifier(rng)),
        "who": other_people(rng, person),
        "a": elsewhere,
        "b": elsewhere,
        "day": other_dates(day, rng),
        "n": near_numbers(amount, 0),
        "s": but(states, status),
    }
    return Row(
        fields=tuple(fields),
        spoken=only_present(spoken, fields),
        others=others,
        templates=kind.templates(),
    )


def finding(person: str, rng: random.Random) -> Row:
    """Return one result sentence of an abstract as a record of a single text field."""
    kind = Kind(name="finding", rng=rng)
    drug, outcome = rng.choice(INTERVENTIONS), rng.choice(OUTCOMES)
    words = {"drug": drug, "outcome": outcome, "condition": rng.choice(CONDITIONS)}
    size, percent = rng.randint(24, 2400), rng.randint(4, 68)
    way = rng.choice(("reduced", "increased", "none"))
    words |= {"size": str(size), "percent": str(percent), "way": way}
    words["control"] = rng.choice(kind.table["controls"])
    words["p"] = f"0.0{rng.randint(1, 49):02d}" if way != "none" else f"0.{rng.randint(12, 94)}"
    words["group"] = rng.choice(kind.table["groups"])
    if way == "none":
        result = rng.choice(kind.table["no_effect"])
    else:
        words["verb"] = rng.choice(kind.table[way])
        in_percent = not words["verb"].startswith("was")
        result = kind.table["by_percent" if in_percent else "associated"]
    text = (rng.choice(kind.table["places"]) + result).format_map(words) + "."
    fields = [kind.field("text", text)]
    words["cased_drug"] = cased(drug, rng)
    another_drug = rng.choice(but(INTERVENTIONS, drug))
    words["another_outcome"] = rng.choice(but(OUTCOMES, outcome))
    words["wrong_size"] = str(size + rng.choice((-9, 10, 40, 100)))
    words["another_drug"] = cased(another_drug, rng)
    also = ["percent"] if way != "none" and in_percent else []
    if also:
        words["wrong_percent"] = str(percent + rng.choice((5, 10, 12, -3)))
    truths = {one: one == way for one in ("reduced", "increased", "none")}
    return record_row(kind, fields, {}, {}, words, truths, also=also)
