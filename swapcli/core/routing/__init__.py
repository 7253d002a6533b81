"""The routing core: pure, over pools behind their protocol. `router` quotes orders on one market."""

PUBLIC = (
    "graph.best_paths", "graph.digraph", "graph.market_graph", "graph.widest_path_prices", "replay", "solver.newton",
)  # fmt: skip
