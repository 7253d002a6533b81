"""What opens networks, nodes, markets, stores and sources of quotes as a `user_setup` says (programs: `program_setup`).

`router_memory` finds networks, `nodes` and `markets` open what they are named for, `pool_sources` quote on opened
markets, and `choose_source` chooses what answers an order: one of these, or a remote service. `lasting_nodes` are for
commands that last, and `service_pools` chooses the pools of a service.
"""

PUBLIC = (
    "account_names", "choose_source", "lasting_nodes", "node_reports", "nodes", "program_setup",
    "router_memory", "service_pools", "user_setup",
)  # fmt: skip
