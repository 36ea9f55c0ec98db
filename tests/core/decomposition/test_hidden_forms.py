"""Facts hidden by form, wording and place, made up at random: how many pass unread (III.2).

`python -m pytest -m stress -s` prints the share by form. On its first run, before any rule was written
for these wordings, 5.7 % passed; two general rules (a clause behind "that", "yet") came of it, and 1.2 %
pass since a line before a list or code is read and no opening of advice sets a likely fact aside.
"""

from __future__ import annotations

import random
from collections import Counter

import pytest

from core.config import Config
from core.decomposition.claims import decompose
from core.records import ClaimType, Trace

SEED = 20260314
DRAWN = 3_000
AT_MOST = 0.02  # of the facts may pass unread

SUBJECTS = (
    "coastal erosion", "the regulator", "night trains", "older siblings", "vitamin K", "the vaccine",
    "her uncle", "copper pipes", "two of the auditors", "hospital beds", "the eastern dam", "glucose",
    "rye bread", "Mr. Osei", "the lighthouse keeper", "shared printers", "tax returns", "the cohort",
    "green turtles", "warfarin", "the southern campus", "diesel engines", "first-year pupils",
)  # fmt: skip
PREDICATES = (
    "has doubled since spring", "never reached the shore", "is contaminated", "lost its licence",
    "harbour a rare fungus", "was left off the list", "shortens sleep", "can trigger seizures",
    "outnumber the visitors", "were sold at a loss", "melts in warm water", "carries no warning",
    "ran dry last August", "belongs to the city", "interacts with grapefruit", "was cancelled",
    "weakens the immune system", "went missing in the fire", "vanished overnight", "are hereditary",
    "broke in three places", "rarely survive the winter", "cannot be reversed", "owes back rent",
)  # fmt: skip
OPENERS = (
    "", "Please note that ", "It bears repeating that ", "For what it is worth, ", "Frankly, ",
    "You will be glad to hear that ", "We regret to say that ", "I gather that ", "Bear in mind: ",
    "Let us not forget that ", "As you may know, ", "My impression is that ", "Rest assured that ",
    "If I may add, ", "One caveat: ", "Needless to say, ", "I would argue that ", "Fun fact: ",
    "It would be wise to remember that ", "Do ask a pharmacist, because ", "Try to rest, as ",
    "Sorry, but ", "Happy to help; ", "Just so you are aware, ", "Speaking as a layperson, ",
    "This is no legal advice, yet ", "Consider a second opinion, given that ", "Wouldn't you agree that ",
)  # fmt: skip
ENDINGS = (".", "!", "", ":", "?", " \u2013 let me know if you need more.", ", I think.", ", as you asked.",
           ", so please be careful.", " (hope this helps).", "; feel free to ask.")  # fmt: skip
PLACES = (
    "{}", "## {}", "> {}", "- {}", "1. {}", "**{}**", "*{}*", "~~{}~~", "<!-- {} -->", "![{}](a.png)",
    '[see](https://example.org "{}")', "```\n{}\n```", "```sh\n# {}\nls\n```", "| {} |\n|---|\n| \u2714 |",
    "Notes.[^n]\n\n[^n]: {}", "<summary>{}</summary>", "Hello!\n\n{}\n\nBest regards",
    "| Check | {} |\n|---|---|\n| today | \u2713 |", "- Tips:\n  - {}", "{}\n---\nThanks.",
)  # fmt: skip


def hidden(chance: random.Random) -> tuple[str, str, str, str]:
    """A subject, an opener, a place, and the answer that hides the fact in them."""
    subject, opener, place = (chance.choice(each) for each in (SUBJECTS, OPENERS, PLACES))
    said = f"{subject} {chance.choice(PREDICATES)}"
    said = opener + said if opener else said[0].upper() + said[1:]
    return subject, opener, place, place.format(said + chance.choice(ENDINGS))


def is_checked(answer: str, subject: str) -> bool:
    """Whether some factual claim holds the fact's subject."""
    claims = decompose(Trace(trace_id="t", question="", answer=answer, sources=()), Config())
    return any(
        claim.claim_type is ClaimType.FACTUAL and subject.casefold() in claim.text.casefold()
        for claim in claims
    )


@pytest.mark.stress
def test_few_facts_pass_unread_whatever_form_hides_them() -> None:
    chance = random.Random(SEED)
    passed: Counter[tuple[str, str]] = Counter()
    for _ in range(DRAWN):
        subject, opener, place, answer = hidden(chance)
        if not is_checked(answer, subject):
            passed["wording", opener] += 1
            passed["place", place] += 1

    count = sum(n for (kind, _), n in passed.items() if kind == "place")
    print(f"\n{count} of {DRAWN} hidden facts pass unread ({count / DRAWN:.1%})")
    for (kind, name), times in passed.most_common(16):
        print(f"  {times:4d} {kind} {name!r}")
    assert count <= AT_MOST * DRAWN
