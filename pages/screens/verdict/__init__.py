"""One answer, its claims and the sources they were checked against."""
