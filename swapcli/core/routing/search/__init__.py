PUBLIC = ("problem", "route_search", "scored_route", "warm_search")
