"""How long does a quote take? In the core compared with the peer, as a whole process, from stores, and at its
slowest."""
