"""Plan an order too large for one block: its parts over time, the file of the plan, and the part that is due.

`plan` computes it, with the pure model of `core.execution` and the measurements of this folder, on the terms of
`plan_terms`. `plan_file` reads and writes its file, `due_part` builds the part that is due, `market_parts` as a market
of a program does, and `recorded_payload` is a payload that the file has, which `recorded_review` judges. `cow_twap` is
the same order at a rival.

`measured_market` shows what past blocks tell of the market: how fast it refills and how it moves.
"""

PUBLIC = (
    "due_part", "market_parts", "measured_market", "measured_refill", "plan", "plan_file", "plan_terms", "price_path",
    "recorded_payload", "volatility",
)  # fmt: skip
