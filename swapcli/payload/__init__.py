"""What is signed: router calls are built, decoded, simulated and checked.

`dialects` choose the router of a network, `evm` and `starknet` encode its calls, and `payloads` build them from routes.
`decode` reads what a user gives, in any form. `checks` say what makes a payload dangerous, `simulation` runs it on a
node, and `signing` adds what only a node knows of it.
"""

PUBLIC = (
    "checks", "decode", "dialects", "evm", "payloads", "payloads_by_reading", "permits", "reading_memory", "signing",
    "simulation", "starknet", "transaction_requests",
)  # fmt: skip
