"""Original synthetic pairs in the shape of medical literature: what an abstract found, and how
somebody would retell it.

A premise states a finding as papers do (direction, ratio, interval, group rates); a claim says it
in everyday words ("raises the risk of a heart attack"). The same direction entails, another one
contradicts, and a claim about something else, or about what the text only asks, is neutral. No
text here was copied from a data set; all is put together from the lists below.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from training.literature_terms import (
    CONDITIONS,
    CONTROLS,
    EXPOSURES,
    GOODS,
    GROUPS,
    HARMS,
    PLACES,
    SYMPTOMS,
    Way,
)
from training.literature_wording import (
    SHARES,
    Claims,
    as_claim,
    capital,
    in_abstract,
    retold_claims,
    said_of,
    shares,
    stated_result,
)
from training.synthetic import CONTRADICTION, ENTAILMENT, NEUTRAL, SyntheticPair


def literature_pairs(count: int, seed: int) -> list[SyntheticPair]:
    """Return `count` pairs, a third of each label; the same seed gives the same pairs."""
    rng = random.Random(f"literature-{seed}")
    labels = [(ENTAILMENT, NEUTRAL, CONTRADICTION)[i % 3] for i in range(count)]
    makers, weights = [maker for maker, _ in KINDS], [weight for _, weight in KINDS]
    pairs = []
    for label in labels:
        maker = rng.choices(makers, weights)[0]
        premise, claims = maker(rng)
        fitting = [text for text, said in claims if said == label]
        if fitting:
            hypothesis = as_claim(rng.choice(fitting), rng)
            pairs.append(
                SyntheticPair(premise=capital(premise), hypothesis=hypothesis, label=label)
            )
    return pairs


def _effect(rng: random.Random) -> tuple[str, Claims]:
    """What an exposure does to an outcome, or to two, told with the numbers of a paper."""
    exposure, way = rng.choice(EXPOSURES), rng.choice(tuple(Way))
    harmful = rng.random() < 0.7
    outcome, second, other = rng.sample(HARMS if harmful else GOODS, 3)
    stranger = rng.choice([e for e in EXPOSURES if e is not exposure])
    formal, what = rng.choice(exposure.formal), rng.choice(outcome.formal)
    result = stated_result(formal, what, way, harmful, rng)
    claims = retold_claims(exposure, outcome, way, harmful, rng)
    text = in_abstract(result, formal, what, rng.randint(40, 40_000), rng)
    if rng.random() < 0.35:  # a second finding beside it, often another one
        also = rng.choice(tuple(Way))
        text = f"{text} {capital(stated_result(formal, rng.choice(second.formal), also, harmful, rng))}"
        claims += retold_claims(exposure, second, also, harmful, rng)
    for unsaid in Way:
        claims += [
            (said_of(exposure, other, unsaid, harmful, rng), NEUTRAL),
            (said_of(stranger, outcome, unsaid, harmful, rng), NEUTRAL),
        ]
    return text, claims


def _unanswered(rng: random.Random) -> tuple[str, Claims]:
    """What a text asks or planned, and does not answer."""
    exposure, outcome = rng.choice(EXPOSURES), rng.choice(HARMS)
    formal, what = rng.choice(exposure.formal), rng.choice(outcome.formal)
    text = rng.choice((
        f"The effect of {formal} on {what} remains unclear.",
        f"We aimed to determine whether {formal} reduces {what}.",
        f"It is not known whether {formal} affects {what}.",
        f"We hypothesised that {formal} would be associated with {what}.",
        f"Further studies are needed to establish whether {formal} influences {what}.",
        f"Patients were randomly assigned to {formal} or {rng.choice(CONTROLS)}; the primary "
        f"outcome was {what}.",
        f"This review summarises what is known about {formal} and {what}.",
    ))  # fmt: skip
    plain, of = rng.choice(exposure.plain), rng.choice(outcome.plain)
    claims = [(said_of(exposure, outcome, way, True, rng), NEUTRAL) for way in Way]
    claims += [
        (f"researchers looked at {plain} and {of}", ENTAILMENT),
        (f"a possible link between {plain} and {of} has been considered", ENTAILMENT),
        (f"nobody has ever considered whether {plain} affects {of}", CONTRADICTION),
    ]
    if text.startswith(("The effect", "It is not", "Further")):
        claims += [
            (f"it is still unclear whether {plain} affects {of}", ENTAILMENT),
            (f"more research is needed on {plain} and {of}", ENTAILMENT),
            (f"it has been settled that {plain} affects {of}", CONTRADICTION),
            (f"it is well established that {plain} lowers the risk of {of}", CONTRADICTION),
        ]
    return text, claims


def _symptom(rng: random.Random) -> tuple[str, Claims]:
    """How many patients had a symptom."""
    condition, other = rng.sample(CONDITIONS, 2)
    symptom, unsaid = rng.sample(SYMPTOMS, 2)
    size = rng.randint(24, 3000)
    had = rng.randint(1, size - 1) if rng.random() < 0.9 else 0
    share = 100 * had / size
    ill, felt = rng.choice(condition.formal), rng.choice(symptom.formal)
    shown = f"{share:.{rng.choice((0, 1))}f}%"
    text = rng.choice((
        f"{felt} was reported by {had} of {size} patients with {ill} ({shown}).",
        f"Among {size} patients with {ill}, {had} ({shown}) presented with {felt}.",
        f"In our series of {size} cases of {ill}, {felt} was present in {shown}.",
    ))  # fmt: skip
    of, sign = rng.choice(condition.plain), rng.choice(symptom.plain)
    some = ENTAILMENT if had else CONTRADICTION
    never = CONTRADICTION if had else ENTAILMENT
    claims = [
        (f"some people with {of} have {sign}", some),
        (f"{sign} can be a symptom of {of}", some if had else NEUTRAL),
        (f"{sign} was seen in patients with {of}", some),
        (f"none of the patients with {of} had {sign}", never),
        (f"{sign} was not seen in any patient with {of}", never),
        (f"{rng.choice(unsaid.plain)} is common in people with {of}", NEUTRAL),
        (f"patients with {rng.choice(other.plain)} often have {sign}", NEUTRAL),
        (f"{sign} goes away within a week in people with {of}", NEUTRAL),
    ]
    claims += [(f"{said} of the patients with {of} had {sign}", label)
               for said, label in shares(share)]  # fmt: skip
    return text, claims


def _susceptible(rng: random.Random) -> tuple[str, Claims]:
    """Who can get an illness, and how they fare."""
    condition, group = rng.choice(CONDITIONS), rng.choice(GROUPS)
    ill, who = rng.choice(condition.formal), rng.choice(group.formal)
    of, people = rng.choice(condition.plain), rng.choice(group.plain)
    milder = rng.random() < 0.5
    course = "milder" if milder else "more severe"
    text = rng.choice((
        f"We report {rng.randint(2, 90)} confirmed cases of {ill} in {who}; the course was {course} "
        "than in other patients.",
        f"Among {who}, {rng.randint(3, 400)} were diagnosed with {ill}, with {course} disease than "
        "in the rest of the cohort.",
        f"{who} are susceptible to {ill}, and their illness tends to be {course}.",
    ))  # fmt: skip
    stranger = rng.choice([g for g in GROUPS if g is not group])
    gentle, harsh = (ENTAILMENT, CONTRADICTION) if milder else (CONTRADICTION, ENTAILMENT)
    return text, [
        (f"{people} can get {of}", ENTAILMENT),
        (f"{people} can be affected by {of}", ENTAILMENT),
        (f"{people} cannot get {of}", CONTRADICTION),
        (f"{people} are immune to {of}", CONTRADICTION),
        (f"{of} never occurs in {people}", CONTRADICTION),
        (f"{of} is usually less serious in {people}", gentle),
        (f"{people} tend to be hit harder by {of}", harsh),
        (f"{rng.choice(stranger.plain)} can get {of}", NEUTRAL),
        (f"most {people} should be vaccinated against {of}", NEUTRAL),
        (f"{people} spread {of} more than others do", NEUTRAL),
    ]


def _detected(rng: random.Random) -> tuple[str, Claims]:
    """Where a virus was found, and where it was not."""
    place, elsewhere, unsaid = rng.sample(PLACES, 3)
    size = rng.randint(6, 300)
    found = rng.randint(1, size) if rng.random() < 0.6 else 0
    what, virus = rng.choice((
        ("SARS-CoV-2 RNA", "the coronavirus"),
        ("influenza A virus", "the flu virus"),
        ("norovirus", "norovirus"),
        ("measles virus RNA", "the measles virus"),
    ))  # fmt: skip
    where, other = rng.choice(place.formal), rng.choice(elsewhere.formal)
    text = rng.choice((
        f"{what} was detected in {found} of {size} {where}." if found else
        f"{what} was not detected in any of {size} {where}.",
        f"Of {size} {where}, {found} were positive for {what}." if found else
        f"All {size} {where} were negative for {what}.",
    ))  # fmt: skip
    if rng.random() < 0.5:  # the opposite elsewhere
        text += f" By contrast, {what} was {'absent from' if found else 'present in'} {other}."
    else:
        other = ""
    there, not_there = (ENTAILMENT, CONTRADICTION) if found else (CONTRADICTION, ENTAILMENT)
    named = rng.choice(place.plain)
    claims = [
        (f"{virus} was found in {named}", there),
        (f"traces of {virus} have been detected in {named}", there),
        (f"{virus} was not found in {named}", not_there),
        (f"no sign of {virus} was seen in {named}", not_there),
        (f"{virus} was found in {rng.choice(unsaid.plain)}", NEUTRAL),
        (f"{virus} survives in {named} for several days", NEUTRAL),
        (f"people can catch {virus} from {named}", NEUTRAL),
    ]
    if other:
        second = rng.choice(elsewhere.plain)
        claims += [
            (f"{virus} was found in {second}", not_there),
            (f"{virus} was not found in {second}", there),
        ]
    return text, claims


def _share(rng: random.Random) -> tuple[str, Claims]:
    """A proportion, retold roughly."""
    condition, group = rng.choice(CONDITIONS), rng.choice(GROUPS[:-1])
    outcome, unsaid = rng.sample(HARMS[:5], 2)
    size = rng.randint(60, 9000)
    had = rng.randint(1, size - 1)
    share = 100 * had / size
    what, who = rng.choice(outcome.formal), rng.choice(group.formal)
    text = rng.choice((
        f"Of {size:,} {who} with {rng.choice(condition.formal)}, {had:,} ({share:.1f}%) had "
        f"{what} as their outcome.",
        f"The rate of {what} in {who} with {rng.choice(condition.formal)} was {share:.1f}% "
        f"({had:,}/{size:,}).",
    ))  # fmt: skip
    people, of = rng.choice(group.plain), rng.choice(outcome.plain)
    claims = [
        (f"for {said} of {people} with the disease, the outcome was {of}", label)
        for said, label in shares(share)
    ]
    claims += [
        (f"for {rng.choice(SHARES)[0]} of {people} with the disease, the outcome was "
         f"{rng.choice(unsaid.plain)}", NEUTRAL),
        (f"{of} is becoming more frequent among {people}", NEUTRAL),
    ]  # fmt: skip
    return text, claims


def _duration(rng: random.Random) -> tuple[str, Claims]:
    """A median time, retold roughly."""
    days = round(rng.uniform(2, 40), rng.choice((0, 1)))
    start, end, plain = rng.choice((
        ("symptom onset", "hospital admission", "get to hospital after the first symptoms"),
        ("exposure", "symptom onset", "show symptoms after being exposed"),
        ("admission", "discharge", "leave hospital after being admitted"),
        ("the first positive test", "a negative test", "test negative again"),
        ("surgery", "return to work", "return to work after surgery"),
    ))  # fmt: skip
    text = rng.choice((
        f"The median time from {start} to {end} was {days:g} days (IQR {max(1, days * 0.6):.0f}–"
        f"{days * 1.5:.0f}).",
        f"The mean interval between {start} and {end} was {days:g} ± {days * 0.3:.1f} days.",
    ))  # fmt: skip
    claims = [
        (f"it takes about {round(days)} days on average to {plain}", ENTAILMENT),
        (f"it takes about {round(days * rng.choice((2, 3, 4)) + 2)} days on average to {plain}",
         CONTRADICTION),
        (f"it takes longer for women to {plain}", NEUTRAL),
        (f"treatment shortens the time that people need to {plain}", NEUTRAL),
    ]  # fmt: skip
    for limit, name in ((7, "a week"), (14, "two weeks"), (30, "a month")):
        if abs(days - limit) > 0.2 * limit:
            more = days > limit
            claims += [
                (f"on average people need more than {name} to {plain}",
                 ENTAILMENT if more else CONTRADICTION),
                (f"on average people need less than {name} to {plain}",
                 CONTRADICTION if more else ENTAILMENT),
            ]  # fmt: skip
    return text, claims


def _comparison(rng: random.Random) -> tuple[str, Claims]:
    """Two treatments against each other."""
    one, other, unsaid = rng.sample(EXPOSURES[3:50], 3)
    outcome = rng.choice(HARMS)
    first, second = rng.choice(one.formal), rng.choice(other.formal)
    what = rng.choice(outcome.formal)
    way = rng.choice(("better", "worse", "same"))
    text = {
        "better": (
            f"{first} was superior to {second} in preventing {what} (p = 0.0{rng.randint(1, 4)}).",
            f"Compared with {second}, {first} led to fewer cases of {what}.",
        ),
        "worse": (
            f"{first} was inferior to {second} in preventing {what}.",
            f"{what} was more frequent with {first} than with {second} (p < 0.01).",
        ),
        "same": (
            f"{first} and {second} did not differ in the prevention of {what} "
            f"(p = 0.{rng.randint(11, 92)}).",
            f"Rates of {what} were similar with {first} and {second}.",
        ),
    }[way]
    a, b, of = rng.choice(one.plain), rng.choice(other.plain), rng.choice(outcome.plain)
    said = {
        "better": (f"{a} works better than {b} against {of}",
                   f"{b} is less effective than {a} at preventing {of}"),
        "worse": (f"{b} works better than {a} against {of}",
                  f"{a} is less effective than {b} at preventing {of}"),
        "same": (f"{a} and {b} work equally well against {of}",
                 f"{a} is no better than {b} at preventing {of}"),
    }  # fmt: skip
    claims = [
        (each, ENTAILMENT if which == way else CONTRADICTION)
        for which, texts in said.items()
        for each in (texts if (which, way) != ("same", "worse") else texts[:1])
    ]
    stranger = rng.choice(unsaid.plain)
    claims += [
        (f"{a} works better than {stranger} against {of}", NEUTRAL),
        (f"{stranger} and {b} work equally well against {of}", NEUTRAL),
        (f"{a} is cheaper than {b}", NEUTRAL),
    ]
    return rng.choice(text), claims


KINDS: tuple[tuple[Callable[[random.Random], tuple[str, Claims]], float], ...] = (
    (_effect, 50),
    (_unanswered, 8),
    (_symptom, 9),
    (_susceptible, 6),
    (_detected, 6),
    (_share, 7),
    (_duration, 6),
    (_comparison, 8),
)
