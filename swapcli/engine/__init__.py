"""The use cases: the only package that joins networks, markets, routing, payloads and the API.

`compose` opens the sources that settings name; `sources` quote, each from other pools: in memory, in a store, read from
a node, or of a remote service. `quote_results` has their results, `resolve` finds tokens and protocols by name,
`payloads` builds transactions from routes, `presign_checks` simulates them, and `health` checks a source.
"""
