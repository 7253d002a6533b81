"""Plan orders that are too large for one block: the number, times and sizes of the parts, and their expected cost.

This package is pure and does no routing. `payout_curve` holds a few exact quotes on today's market, and `refill` models
how fast a displaced price recovers. `schedule` chooses the parts in floats, then replays them with exact quotes.
`docs/decisions/orders-over-time.md` has the model and its sources.
"""

PUBLIC = ("payout_curve", "refill", "schedule")
