"""The state of chains: nodes, and what is read from them."""
