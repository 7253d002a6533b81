"""The use cases: the only place that joins networks, markets, routing and the wire.

`sources` opens whatever answers orders, `lookup` turns the names that people give into tokens and protocols, `answer`
is what comes back.
"""
