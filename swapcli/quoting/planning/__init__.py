"""Plan an order too large for one block: its parts over time, the plan's file, and the part that is due.

`plan` computes the plan on the terms in `plan_terms`, with the pure model in `core.execution` and the measurements in
this folder. `plan_file` reads and writes the plan's file. `due_part` builds the part that is due, and `market_parts`
does so on a program's market. `recorded_payload` is a payload in the file, which `recorded_review` checks. `cow_twap`
gives the same order as a CoW Protocol order.

`measured_market` measures on past blocks how fast pools refill after large swaps, and how much prices move.
"""

PUBLIC = (
    "due_part", "market_parts", "measured_market", "measured_refill", "plan", "plan_file", "plan_terms", "price_path",
    "recorded_payload", "route_limits", "volatility",
)  # fmt: skip
