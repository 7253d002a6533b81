"""Nodes: connections, requests, limits, fail-over, and heads of chains.

`node` is the protocol through which everything reads. `rpc_node` implements it for EVM networks and `starknet_node` for
Starknet, with JSON-RPC (`json_rpc_client`) over `http_connection`, `failover` between several URLs, and
`proxy_from_environment` for proxies.
"""

PUBLIC = (
    "delegating_node", "log_scan", "log_verification", "multicall", "network_time", "node", "nodes_by_kind", "receipt",
    "refusals", "rpc_node",
)  # fmt: skip
