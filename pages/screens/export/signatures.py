"""Signatures as people compare them: name, meaning, time, the key's fingerprint, and what is wrong."""

from __future__ import annotations

from collections.abc import Sequence

from core.review.exchange import PacketSignature
from core.review.signing import fingerprint, public_key, wrong_with
from pages.widgets.plain import Card
from storage.keys import TrustedKey, foreign, seed_of
from storage.packets import SignedPacket


def own_fingerprint(name: str) -> str:
    """The fingerprint of the key that the person of that name signs with here."""
    return fingerprint(public_key(seed_of(name)))


def signed_card(packet: SignedPacket, keys: Sequence[TrustedKey]) -> Card:
    """A packet that was signed; red where a signature that stands proves nothing."""
    wrong = [why for one in packet.signatures if one.stands for why in _problems(one, keys)]
    if wrong:
        aside = "not to be trusted"
    else:
        aside = "locked" if packet.locked else "unlocked: no signature stands"
    return {
        "title": packet.manifest_sha256,
        "mark": "✕" if wrong else "✓" if packet.locked else "⊘",
        "tone": "bad" if wrong else "good" if packet.locked else "quiet",
        "aside": aside,
        "text": "\n".join(wrong),
        "facts": [_fact(one) for one in packet.signatures],
    }


def signature_cards(
    signatures: Sequence[PacketSignature], keys: Sequence[TrustedKey]
) -> list[Card]:
    """A card a signature of a packet that came in; one that says so where there is none."""
    if not signatures:
        return [{"title": "Nobody signed this packet", "tone": "careful", "mark": "!"}]
    return [_card(one, list(_problems(one, keys))) for one in signatures]


def _card(one: PacketSignature, wrong: Sequence[str]) -> Card:
    return {
        "title": "This signature proves nothing" if wrong else "Signed",
        "mark": "✕" if wrong else "✓",
        "tone": "bad" if wrong else "good",
        "text": "\n".join(wrong),
        "facts": [_fact(one)],
    }


def _problems(one: PacketSignature, keys: Sequence[TrustedKey]) -> list[str]:
    found = (wrong_with(one), foreign(one, tuple(keys)))
    return [f"{one.signer}: {why}" for why in found if why is not None]


def _fact(one: PacketSignature) -> list[str]:
    key = "without a key" if one.public_key is None else f"key {fingerprint(one.public_key)}"
    return [
        f"{one.signer}, {one.meaning}",
        f"{one.at:%Y-%m-%d %H:%M} UTC · {key}" + (" (taken back)" if one.taken_back else ""),
    ]
