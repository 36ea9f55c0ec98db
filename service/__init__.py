"""Verify as a service: the same verbs for MCP clients and over HTTP, on one set of warm models.

    requests.py    what may be asked, and the trace in it
    replies.py     what is answered: records of the core as published models
    verbs.py       verify_answer, audit_citations, explain_claim: limits, cancellation, progress
    mcp_server.py  the verbs as tools of an MCP server (stdio, streamable HTTP)
    proxy.py       between a client and its servers: what passes, and the verbs beside their tools;
                   upstream.py the servers behind, captured.py what is kept, proxy_verbs.py the verbs
                   on it
    http_app.py    the verbs as an HTTP API with its OpenAPI document
    running.py     the start: warm models, a socket, patience with slow clients
    guard.py       who may ask: bearer tokens, hosts
    metrics.py     counters for Prometheus, without a word of any claim
    problems.py    what a caller is told when something is wrong

A shell beside ``cli`` and ``pages``: ``cli`` opens it (``provenanceguard serve``), and it knows neither.
"""
