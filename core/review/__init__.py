"""Review: who reads which claim, what two annotations make together, and how well people agree.

Rules only: nothing here reads or writes anything.
"""
