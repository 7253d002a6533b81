"""Plans for large orders, judged in a simulated market: are they better than one swap, and as expensive as forecast?

`worlds` draws pools and traders, `trading` plays them, and `judging` compares a plan with one swap and equal parts.
`docs/planning.md` has the assumptions.
"""
