"""Signatures under packets: Ed25519 over the manifest's hash, the name, the time and the meaning."""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import replace
from datetime import UTC

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from core.review.exchange import PacketSignature

PURPOSE = "provenanceguard packet signature 1"
SEED_BYTES = 32


def new_seed() -> bytes:
    """A private key, as 32 bytes."""
    return Ed25519PrivateKey.generate().private_bytes_raw()


def public_key(seed: bytes) -> str:
    """The public key of a private one, in base64."""
    key = Ed25519PrivateKey.from_private_bytes(seed).public_key()
    return base64.b64encode(key.public_bytes_raw()).decode()


def fingerprint(public: str) -> str:
    """A public key as people compare it: eight groups of four hexadecimal digits."""
    digits = hashlib.sha256(public.encode()).hexdigest()[:32]
    return " ".join(digits[at : at + 4] for at in range(0, len(digits), 4))


def sign(signature: PacketSignature, seed: bytes) -> PacketSignature:
    """The same with its public key and the signature over everything that it says."""
    stated = replace(signature, public_key=public_key(seed))
    made = Ed25519PrivateKey.from_private_bytes(seed).sign(_message(stated))
    return replace(stated, signature=base64.b64encode(made).decode())


def wrong_with(signature: PacketSignature) -> str | None:
    """Why a signature proves nothing; None when its key made it for exactly what it says."""
    if signature.public_key is None or signature.signature is None:
        return "a name without a key: it proves nothing"
    try:
        key = Ed25519PublicKey.from_public_bytes(
            base64.b64decode(signature.public_key, validate=True)
        )
        key.verify(base64.b64decode(signature.signature, validate=True), _message(signature))
    except (InvalidSignature, ValueError):
        return "forged: the key did not sign this name, time, meaning and manifest"
    return None


def _message(signature: PacketSignature) -> bytes:
    return json.dumps(
        {
            "purpose": PURPOSE,
            "manifest_sha256": signature.manifest_sha256,
            "name": signature.signer,
            "at": signature.at.astimezone(UTC).isoformat(),
            "meaning": signature.meaning,
            "public_key": signature.public_key,
        },
        sort_keys=True,
    ).encode()
