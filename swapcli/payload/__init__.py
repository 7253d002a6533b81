"""Build, decode, simulate and check router calls.

`dialects` choose the router of a network, `evm` and `starknet` encode its calls, and `payloads` build them from routes.
`decode` reads the user's input in any form, and `review` finds problems in it. `checks` finds dangers in a payload,
`simulation` runs it on a node, and `verdict` judges a run. `permits` replaces approvals with signatures, `signing` adds
the fields of a transaction that only a node can provide, and `handoff` writes the documents for other signers.
"""

PUBLIC = (
    "checks", "decode", "dialects", "evm", "handoff", "payloads", "payloads_by_variant", "permits", "review", "signing",
    "simulation", "transactions_to_send", "variant_memory", "verdict",
    "checks", "decode", "dialects", "evm", "payloads", "payloads_by_variant", "permits", "review",
    "router_trust", "signing", "simulation", "transactions_to_send", "variant_memory", "verdict",
)  # fmt: skip
