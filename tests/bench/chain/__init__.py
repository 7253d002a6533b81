"""What is measured on a local chain of real contracts.

`many_pools` makes a chain with as many pools as a bar asks for; `first_sync` fills stores from it (each by a process of
`one_sync`), `live` quotes on it. `following` keeps stores at the newest block of a chain of all families with which a
`crowd` trades, `received` mines routes. `measure` runs them all.
"""
