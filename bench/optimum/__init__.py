"""How good are the routes? Exactness, the gap to a proven optimum, the peer, simple methods, and contradictions."""
