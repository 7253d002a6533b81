"""The dialects of routers on EVM networks, one module each. `swapcli.engine.dialects` chooses."""
