"""The routing core: pure computation over pools, independent of their families.

`router` quotes orders on one market.
"""

PUBLIC = (
    "graph.best_paths", "graph.digraph", "graph.market_graph", "graph.widest_path_prices", "replay", "solver.newton",
)  # fmt: skip
