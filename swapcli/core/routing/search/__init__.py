PUBLIC = ("drained_market", "exact_paths", "problem", "route_search", "scored_route", "warm_search")
