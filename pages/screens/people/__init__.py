"""People, roles, settings and the guideline."""
