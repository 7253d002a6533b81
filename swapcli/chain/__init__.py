"""Reads pools, tokens and events from a node of an EVM network.

`node` is the seam that everything here asks through; `rpc` is the one that speaks JSON-RPC, over `http`, `failover`
between several addresses and `proxies` of the environment. `multicall` puts many calls into few, and checks that all
are answered from one block; `abi` packs and reads them. `audit` compares events with the `bloom` filters of headers.
`loaders` hold one reader per family of pools, which `rounds` runs side by side; `tokens` reads tokens; `discovery`,
`logs` and `lookup` find pools, and `changes` knows which events change them. Nothing here computes an amount: what is
read becomes state that the families of `swapcli.pools` check and own.

Loaded only by who talks to a node.
"""
