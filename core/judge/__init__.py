"""The judge: a language model reads claims with their sources, and its proof is checked without one.

request      claims, trace → JudgeRequest (sources, claims, delimiters, what was left out)
reply        text → JudgeReply (the reply's shape, read without trust)
quotes       quote, source → QuotePlace
arithmetic   expression → value, by our own evaluator
proof        claim, reading, trace → Proved | Unproved | NotShown
replay       requests and replies kept as JSON Lines
"""
