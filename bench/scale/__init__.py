"""A team's deployment on one machine, under load, with random kills: `make scale`.

`cluster` runs Redis, a writer, replicas and nginx, and kills and restarts them; `chain` is a real chain with continuous
trading; `load` sends orders through nginx and counts what the rate limit allows; `checks` compares every response with
the chain.
"""
