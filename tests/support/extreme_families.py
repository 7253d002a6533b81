"""Pools of every family in extreme states: numbers near 0 or at the contracts' limits, and swaps far out of balance.

A state is a valid one with some numbers replaced, as far as the family accepts them: pools that anybody could create,
and pools that a node reports by mistake.
"""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Final

from swapcli.core.errors import PoolError, SwapcliError
from swapcli.core.model.market import MarketState
from swapcli.core.model.network import ProtocolInfo
from swapcli.core.model.pool import Pool
from swapcli.core.model.token import Token
from swapcli.families import FAMILIES, family
from swapcli.testing.wrong_states import changed, is_number, member, places
from tests.families.test_contradictory_states import state_of, valid_pool
from tests.support.extreme_pools import BUILDERS
from tests.support.pools import build_market, build_random_market, build_token

_NUMBERS: Final = (
    *(0, 1, 2, 10**3, 10**6, 10**9, 10**18, 10**27, 2**63, 2**96),
    *(2**112 - 1, 2**127, 2**128 - 1, 2**160 - 1, 2**255, 2**256 - 1),
)
_FACTORS: Final = (1e-18, 1e-12, 1e-6, 1e-3, 0.5, 2.0, 1e3, 1e6, 1e12, 1e18)
_SORTED: Final = ("concentrated", "constant_product", "solidly_stable", "ekubo", "infinity_bin")
"""Families whose contracts order their tokens by address."""
_FIRST_PROTOCOL: Final = 900
_OWN_TOKEN: Final = ("vault", "balancer_v2_composable")
"""Families with pools that trade their own token."""


def build_extreme_pool(rng: random.Random, number: int, name: str, tokens: Sequence[Token]) -> Pool | None:
    """Return a pool of a family between some of `tokens`; None if there are too few tokens."""
    pool = _valid_pool(name)
    if len(pool.tokens) > len(tokens):
        return None
    address = f"0x{0xE00000 + number:040x}"
    chosen = [token.address for token in rng.sample(list(tokens), len(pool.tokens))]
    if name in _SORTED:
        chosen.sort()
    if name in _OWN_TOKEN:
        chosen = [address if token == pool.address else new for token, new in zip(pool.tokens, chosen, strict=True)]
    if name == "wrapper":
        chosen, address = list(pool.tokens), pool.address
    state = _with_tokens(state_of(pool), dict(zip(pool.tokens, chosen, strict=True)))
    identity = pool.identity._replace(address=address, tokens=tuple(chosen))
    if rng.random() < 0.5:
        known = {token.address: token.decimals for token in tokens}
        decimals = (known.get(token, places) for token, places in zip(chosen, identity.decimals, strict=True))
        identity = identity._replace(decimals=tuple(decimals))
    if rng.random() < 0.3:
        identity = identity._replace(fee_ppm=rng.choice((0, 1, 3_000, 999_999)))
    for _ in range(rng.choice((0, 1, 1, 2, 3, 5))):
        extreme = _with_extreme_number(rng, state)
        try:
            family(name).from_state(identity, extreme)
        except SwapcliError:
            continue
        state = extreme
    try:
        return after_large_swaps(rng, family(name).from_state(identity, state), rng.choice((0, 0, 1, 2)))
    except SwapcliError:
        return None


def after_large_swaps(rng: random.Random, pool: Pool, count: int) -> Pool:
    """Return the pool after swaps of any size that it accepts."""
    for _ in range(count):
        token_in, token_out = rng.sample(pool.tokens, 2)
        try:
            pool = pool.swap(token_in, token_out, 10 ** rng.randrange(1, 40))[1]
        except PoolError:
            continue
    return pool


def build_market_of_extremes(seed: int) -> MarketState:
    """Return a market of ordinary pools, and of up to 20 extreme pools of all families between the same tokens."""
    rng = random.Random(seed)
    base = build_random_market(seed, tokens=rng.choice((3, 4, 6, 9)), pools=rng.choice((4, 8, 14)))
    tokens = [*base.tokens.values(), *(build_token(500 + k, rng.choice((0, 6, 18))) for k in range(rng.randrange(4)))]
    pools = dict(base.pools)
    for number in range(rng.choice((2, 4, 8, 20))):
        name = rng.choice(FAMILIES)
        pool = build_extreme_pool(rng, number, name, tokens) if rng.random() < 0.75 else None
        if pool is None:
            try:
                pool = rng.choice(BUILDERS)(rng, number, *rng.sample(tokens, 2))
            except SwapcliError:
                continue  # no contract has such a state
        pools[pool.key] = pool
    known = {token.address: token for token in tokens}
    for pool in pools.values():
        for address, decimals in zip(pool.tokens, pool.decimals, strict=True):
            known.setdefault(address, Token(address, "SHARE", "Share", decimals))
    market = build_market(list(pools.values()), list(known.values()), gas_price_wei=rng.choice((0, 10**9)))
    names = {pool.protocol for pool in pools.values()} - {each.amm_name for each in market.network.protocols}
    protocols = [ProtocolInfo(number, name, name, "") for number, name in enumerate(sorted(names), _FIRST_PROTOCOL)]
    return market._replace(network=market.network._replace(protocols=(*market.network.protocols, *protocols)))


@cache
def _valid_pool(name: str) -> Pool:
    return valid_pool(name)


def _with_tokens(state: Mapping[str, object], tokens: Mapping[str, str]) -> Any:
    """Return the state with other addresses."""
    text = json.dumps(state)
    for old, new in tokens.items():
        text = text.replace(old, new)
    return json.loads(text)


def _with_extreme_number(rng: random.Random, state: Mapping[str, Any]) -> Any:
    """Return the state with one number replaced."""
    numbers = [path for path in places(state, ends_only=True) if is_number(member(state, path))]
    if not numbers:
        return state
    path = rng.choice(numbers)
    number = member(state, path)
    value = rng.choice(_NUMBERS) if rng.random() < 0.5 else int(int(number) * rng.choice(_FACTORS))
    return changed(state, path, str(value) if isinstance(number, str) else value)
