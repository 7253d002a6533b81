"""Reads pools, tokens and events from a node of an EVM network.

Everything here reads through the protocol of a node in `swapcli.state.rpc`. `multicall` packs many calls into few and
checks that all results come from one block; `call_encoding` encodes calls and decodes return data. `loaders` has one
reader per kind of pool contract, and `lockstep_reads` runs many of them side by side. `pool_discovery` and
`pair_lookup` find pools; `pool_change_events`, `log_scan` and `log_verification` follow their changes. `simulation` and
`transfer_trials` run calls on hypothetical state.

Nothing here computes an amount: the state that is read is checked and owned by the families of `swapcli.pools`.
Imported only by code that talks to a node.
"""
