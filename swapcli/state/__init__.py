"""The state of a market's pools on each chain, and its source: nodes, stores, files and feeds.

`rpc` talks to nodes, with one policy for limits and failures. `read_cache` keeps nodes' responses about final blocks,
`discovery` finds the pools of a network, `mined` verifies the swaps of a transaction, `transfers` tests how tokens
transfer, and `snapshot_reader` reads the state that a quote needs at one block. `store` keeps a market in SQLite, and
`sync` fills it and keeps it current. `markets` reads and writes market files, and `feed` sends markets over a Redis
server. The families in `swapcli.families` compute amounts and check states.
"""

PUBLIC = (
    "agreements_file", "backoff", "book_prices", "clock", "confirmed_tokens_file", "connect_failure", "discovery",
    "environment", "feed", "file_lock", "file_writing", "found_pools_file", "markets", "mined", "names", "read_cache",
    "remembered_json", "router_findings_file", "rpc.block_view", "rpc.code_sizes", "rpc.connect_nodes",
    "rpc.fee_history", "rpc.head_rule", "rpc.head_source", "rpc.head_watch", "rpc.http_connection",
    "rpc.json_rpc_client", "rpc.log_scan", "rpc.multicall", "rpc.network_time", "rpc.node", "rpc.node_checks",
    "rpc.nodes_by_kind", "rpc.proxy_from_environment", "rpc.receipt", "rpc.rpc_node", "rpc.run_budget",
    "rpc.witness_node",
    "settler_registry", "snapshot_reader", "store", "sync", "temporary_folders", "tokens", "tracing", "transfers",
    "user_folders",
)  # fmt: skip
