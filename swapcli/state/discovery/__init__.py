"""Find the pools of a network in factories' lists, in factories' events, or by the tokens in an order."""

PUBLIC = ("pair_lookup", "pool_discovery", "token_pools")
