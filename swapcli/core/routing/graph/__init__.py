PUBLIC = ("best_paths", "digraph", "market_graph", "order_market", "usd_prices", "widest_path_prices")
