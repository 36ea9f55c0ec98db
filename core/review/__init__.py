"""Review: who reads which claim, what two readings make together, and how well people agree.

Rules only: nothing here reads or writes anything.
"""
