"""How good the verifier is on a labelled packet."""
