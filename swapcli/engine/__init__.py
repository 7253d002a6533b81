"""The use cases: the only place that joins networks, markets, routing, payloads and the wire.

`sources` says what answers orders, `market_source` is the core in this process; `build_quote` is what is asked and what
comes back, `lookup` turns the names that people give into tokens and protocols, `opening` finds a market, `payloads`
makes of a route what can be signed, `health` checks a source.
"""
