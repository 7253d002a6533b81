"""Plan orders that are too large for one block: number, times and sizes of the parts, and their expected cost.

Pure and without routing: `payout_curve` holds some exact quotes of today's market, `refill` how fast a displaced price
comes back. `schedule` chooses parts in floats, and replays them by exact quotes. `docs/decisions/orders-over-time.md`
has the model and its sources.
"""

PUBLIC = ("payout_curve", "refill", "schedule")
