"""Find the pools of a network: in factories' lists, in their events, or by the tokens of an order."""

PUBLIC = ("pair_lookup", "pool_discovery", "token_pools")
