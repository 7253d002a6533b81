"""How good are the routes? Exactness, the gap to a proven optimum, the peer, simple methods, and contradictions."""

"""Measure how far routes are below a proven bound: markets, the bound, a judge, and a peer.

Nothing here shares code with the program under test: `gen_market` makes markets and orders, `real_market` opens
recorded ones, `bound` proves what no route can exceed, `replay` executes routes in integers, `score` compares the two,
and `peer` runs another router. `proofs` compares every competitor's routes with published proofs.
"""
