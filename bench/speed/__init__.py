"""How long does a quote take? In the core beside the peer, as a whole process, from stores, and at its slowest."""
