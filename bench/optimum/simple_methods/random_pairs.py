"""Former place of `bench.worlds`."""

from __future__ import annotations

from bench.worlds.changed_pools import pushed_market as pushed_market
from bench.worlds.random_pairs import random_pairs as random_pairs
