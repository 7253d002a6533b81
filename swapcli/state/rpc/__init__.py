"""Connections to nodes: requests, limits, failover, and the latest blocks of chains.

All chain state is read through the protocol in `node`. `rpc_node` implements it for EVM networks and `starknet_node`
for Starknet. Both send JSON-RPC (`json_rpc_client`) over `http_connection`, with `failover` between several URLs and
the proxies from `proxy_from_environment`.
"""

PUBLIC = (
    "delegating_node", "log_scan", "log_verification", "multicall", "network_time", "node", "nodes_by_kind", "receipt",
    "refusals", "rpc_node",
)  # fmt: skip
