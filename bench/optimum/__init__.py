"""How good are the routes? Exactness, the gap to a proven optimum, the peer, simple methods, and contradictions."""

"""How far routes are below a proven bound: markets, the bound, a judge, and a peer.

Nothing here shares code with the program that it judges: `gen_market` makes markets and orders, `real_market` opens
recorded ones, `bound` proves what no route can exceed, `replay` executes routes in integers, `score` compares the two,
and `peer` runs another router. `proofs` holds the routes of every competitor against published proofs.
"""
