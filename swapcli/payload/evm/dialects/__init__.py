"""The dialects of routers on EVM networks, one module each. `swapcli.payload.dialects` chooses among them."""

PUBLIC = ()
