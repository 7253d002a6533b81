"""Invariants of the router contract, run by Foundry's `forge` on the committed bytecode, and mutants of its source."""
