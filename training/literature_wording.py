"""How a literature pair is worded: effects said, shares, results in an abstract, and claims retold."""

from __future__ import annotations

import random

from training.literature_terms import (
    CONTROLS,
    DESIGNS,
    Term,
    Way,
)
from training.synthetic import CONTRADICTION, ENTAILMENT

# Wordings of an effect on a harm; {e} the exposure, {o} the outcome as people call it.
SAID_OF_HARM = {
    Way.UP: (
        "{e} increases the risk of {o}", "{e} raises the risk of {o}",
        "{e} can increase a person's risk of {o}", "{e} makes {o} more likely",
        "{e} is a risk factor for {o}", "{e} is linked to a higher risk of {o}",
        "{e} tied to higher odds of {o}", "there is evidence that {e} promotes {o}",
        "{e} may put people at greater risk of {o}", "with {e}, {o} is more common",
    ),
    Way.DOWN: (
        "{e} reduces the risk of {o}", "{e} lowers the risk of {o}", "{e} protects against {o}",
        "{e} helps prevent {o}", "{e} makes {o} less likely", "{e} may cut the risk of {o}",
        "{e} is linked to a lower risk of {o}", "{e} tied to lower odds of {o}",
        "there is evidence that {e} guards against {o}", "with {e}, {o} is less common",
    ),
    Way.NONE: (
        "{e} has no effect on the risk of {o}", "{e} does not change the risk of {o}",
        "{e} makes no difference to the risk of {o}", "{e} is not associated with {o}",
        "there is no link between {e} and {o}", "{o} is as common with {e} as without",
    ),
}  # fmt: skip
SAID_OF_GOOD = {
    Way.UP: (
        "{e} improves {o}", "{e} may boost {o}", "{e} is good for {o}", "{e} helps with {o}",
        "{e} is linked to better {o}", "there is evidence that {e} benefits {o}",
    ),
    Way.DOWN: (
        "{e} worsens {o}", "{e} impairs {o}", "{e} is bad for {o}", "{e} is linked to worse {o}",
        "there is evidence that {e} harms {o}", "{e} reduces {o}",
    ),
    Way.NONE: (
        "{e} has no effect on {o}", "{e} makes no difference to {o}", "{e} does not affect {o}",
        "there is no link between {e} and {o}", "{o} is the same with and without {e}",
    ),
}  # fmt: skip


Claims = list[tuple[str, str]]


# (wording, from this many percent, to this many): where a share is near a limit nothing is said.
SHARES = (
    ("most", 55, 100),
    ("more than half", 53, 100),
    ("fewer than half", 0, 47),
    ("a minority", 0, 45),
    ("about a quarter", 23, 27),
    ("about a third", 31, 36),
    ("about half", 47, 53),
    ("roughly one in ten", 9, 11),
    ("fewer than one in ten", 0, 9),
    ("more than three quarters", 77, 100),
    ("nearly all", 92, 100),
)


def shares(percent: float) -> Claims:
    """Rough words for a share in percent, each with its label."""
    found = []
    for said, low, high in SHARES:
        if low <= percent <= high:
            found.append((said, ENTAILMENT))
        elif percent < low - 6 or percent > high + 6:
            found.append((said, CONTRADICTION))
    return found


def retold_claims(
    exposure: Term, outcome: Term, way: Way, harmful: bool, rng: random.Random
) -> Claims:
    """Every direction said of this exposure and outcome, with what it is then."""
    claims = []
    for said in Way:
        label = ENTAILMENT if said is way else CONTRADICTION
        claims += [(said_of(exposure, outcome, said, harmful, rng), label) for _ in range(2)]
    e, o = rng.choice(exposure.plain), rng.choice(outcome.plain)
    less = CONTRADICTION if way is Way.DOWN else ENTAILMENT
    more = CONTRADICTION if way is Way.UP else ENTAILMENT
    if harmful:
        claims += [
            (f"{e} does not lower the risk of {o}", less),
            (f"{e} does not increase the risk of {o}", more),
            (f"the risk of {o} is unrelated to {e}", _same(way, Way.NONE)),
        ]
    else:
        claims += [(f"{e} does not improve {o}", more), (f"{e} does not worsen {o}", less)]
    for opposite in outcome.opposite:
        up, down = _same(way, Way.DOWN), _same(way, Way.UP)
        if harmful:
            claims += [
                (f"{e} improves the odds of {opposite}", up),
                (f"{e} lowers the odds of {opposite}", down),
            ]
        else:
            claims += [
                (f"{e} raises the risk of {opposite}", up),
                (f"{e} lowers the risk of {opposite}", down),
            ]
    return claims


def _same(way: Way, said: Way) -> str:
    return ENTAILMENT if way is said else CONTRADICTION


def said_of(exposure: Term, outcome: Term, way: Way, harmful: bool, rng: random.Random) -> str:
    """One way to say that the exposure moves the outcome."""
    wordings = (SAID_OF_HARM if harmful else SAID_OF_GOOD)[way]
    names = (exposure.plain, outcome.plain) if rng.random() < 0.75 else (
        exposure.formal, outcome.formal)  # fmt: skip
    return rng.choice(wordings).format(e=rng.choice(names[0]), o=rng.choice(names[1]))


def stated_result(e: str, o: str, way: Way, harmful: bool, rng: random.Random) -> str:
    """One sentence of results."""
    control = rng.choice(CONTROLS)
    group = rng.choice(("group", "arm"))
    trials = rng.randint(3, 60)
    ratio = _ratio(way, rng)
    sure = rng.choice(("(P < 0.001)", "(p = 0.003)", "(p = 0.02)", f"({ratio})"))
    unsure = rng.choice((f"(p = 0.{rng.randint(12, 94)})", f"({ratio})"))
    base = rng.uniform(4, 40)
    factor = {Way.UP: rng.uniform(1.4, 2.5), Way.DOWN: rng.uniform(0.3, 0.7), Way.NONE: 1.02}[way]
    rates = f"{base * factor:.1f}% in the {e} {group} and {base:.1f}% in the control {group}"
    shown: tuple[str, ...]
    if way is Way.NONE:
        shown = (
            f"{e} had no significant effect on {o} compared with {control} {unsure}.",
            f"No significant association was found between {e} and {o} ({ratio}).",
            f"There was no difference in {o} between the {e} and {control} {group}s {unsure}.",
            f"{e} was not associated with {o} ({ratio}).",
            f"A meta-analysis of {trials} trials found no evidence that {e} affects {o}.",
        )
        if harmful:
            shown += (
                f"The incidence of {o} was similar: {rates} {unsure}.",
                f"{e} did not significantly reduce {o} ({ratio}).",
            )
        return rng.choice(shown)
    up = way is Way.UP
    verb = rng.choice(("increased", "raised") if up else ("reduced", "lowered", "decreased"))
    if harmful:
        shown = (
            f"{e} significantly {verb} {o} compared with {control} {sure}.",
            f"{e} was associated with {'an increased' if up else 'a decreased'} risk of {o} ({ratio}).",
            f"{e} was independently associated with {'higher' if up else 'lower'} rates of {o} {sure}.",
            f"{e} was {'a risk factor for' if up else 'protective against'} {o} ({ratio}).",
            f"The incidence of {o} was {rates} {sure}.",
            f"{o} occurred {'more' if up else 'less'} often with {e} than with {control} {sure}.",
            f"A meta-analysis of {trials} trials found that {e} {verb} {o} by {rng.randint(9, 62)}%.",
            f"Multivariable analysis showed {'greater' if up else 'smaller'} odds of {o} with {e} "
            f"({ratio}).",
        )  # fmt: skip
    else:
        better = "improved" if up else "worsened"
        shown = (
            f"{e} significantly {better} {o} compared with {control} {sure}.",
            f"{e} was associated with {'better' if up else 'poorer'} {o} {sure}.",
            f"A meta-analysis of {trials} trials found that {e} {better} {o}.",
            f"{o} {'rose' if up else 'declined'} with {e} but not with {control} {sure}.",
            f"Participants with {e} showed {'greater' if up else 'lower'} {o} than controls {sure}.",
        )
    return rng.choice(shown)


def _ratio(way: Way, rng: random.Random) -> str:
    value = {
        Way.UP: rng.uniform(1.3, 3.2),
        Way.DOWN: rng.uniform(0.35, 0.78),
        Way.NONE: rng.uniform(0.93, 1.07),
    }[way]
    wide = {Way.UP: 0.85, Way.DOWN: 0.85, Way.NONE: 0.8}[way]
    name = rng.choice(("HR", "OR", "adjusted OR", "RR", "adjusted hazard ratio", "odds ratio"))
    to = rng.choice(("–", " to ", "-"))
    return f"{name} {value:.2f}, 95% CI {value * wide:.2f}{to}{value / wide:.2f}"


def in_abstract(result: str, e: str, o: str, size: int, rng: random.Random) -> str:
    """The result as it stands in a title's abstract, with or without what comes before it."""
    text = capital(result)
    design = rng.choice(DESIGNS)
    if rng.random() < 0.35:
        text = rng.choice((
            f"We studied {size:,} participants. {text}",
            f"RESULTS: {text}",
            f"CONCLUSIONS: {text}",
            f"The relation of {e} to {o} has been debated. {text}",
            f"In {design} of {size:,} people, {text[0].lower() + text[1:]}",
        ))  # fmt: skip
    if rng.random() < 0.3:
        text = f"{capital(e)} and {o}: {design}. {text}"
    return text


def as_claim(text: str, rng: random.Random) -> str:
    """A sentence, or now and then a headline without its full stop."""
    return capital(text) if rng.random() < 0.15 else capital(text) + "."


def capital(text: str) -> str:
    """The text with a capital first."""
    return text[0].upper() + text[1:]
