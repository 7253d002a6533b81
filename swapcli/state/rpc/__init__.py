"""Nodes: connections, requests, limits, fail-over, and heads of chains.

`node` is the protocol that everything reads through. `rpc_node` implements it for EVM networks, `starknet_node` for
Starknet: JSON-RPC (`json_rpc_client`) over `http_connection`, with `failover` between several URLs and
`proxy_from_environment` for the proxies of the environment.
"""

PUBLIC = (
    "delegating_node", "log_scan", "log_verification", "multicall", "network_time", "node", "nodes_by_kind", "receipt",
    "refusals", "rpc_node",
)  # fmt: skip
