"""How claims are reviewed, the models, the guideline, words and keys."""
