"""Build, decode, simulate and check router calls.

`dialects` choose the router of a network, `evm` and `starknet` encode its calls, and `payloads` build them from routes.
`decode` reads what a user gives, in any form, and `review` asks what is wrong with it. `checks` say what makes a
payload dangerous, `simulation` runs it on a node, and `verdict` judges a run. `permits` replace approvals by
signatures, `signing` adds what only a node knows of a transaction, and `handoff` writes the documents of other signers.
"""

PUBLIC = (
    "checks", "decode", "dialects", "evm", "handoff", "payloads", "payloads_by_variant", "permits", "review", "signing",
    "simulation", "transactions_to_send", "variant_memory", "verdict",
    "checks", "decode", "dialects", "evm", "payloads", "payloads_by_variant", "permits", "review",
    "router_trust", "signing", "simulation", "transactions_to_send", "variant_memory", "verdict",
)  # fmt: skip
