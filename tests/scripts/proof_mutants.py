"""Small changes of proofs, most of which make them wrong."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Mapping
from fractions import Fraction
from hashlib import sha256
from typing import Any, Final

Record = dict[str, Any]
Change = Callable[[Record, random.Random], bool]
"""Changes a document, and returns whether it found something to change."""


def mutant(document: Record, kind: str, seed: int) -> Record | None:
    """A changed copy of a document; None where that kind of change finds nothing to change."""
    changed = copy.deepcopy(document)
    return changed if KINDS[kind](changed, random.Random(seed)) else None


def _leaf(document: Record, rng: random.Random) -> Record:
    bound = rng.choice(document["bounds"])
    leaf: Record = rng.choice(bound["leaves"])
    return leaf


def _net(document: Record) -> Record | None:
    return next((bound for bound in document["bounds"] if bound["kind"] == "afterGas"), None)


def _scaled(text: str, rng: random.Random, *factors: str) -> str:
    value = Fraction(text) * Fraction(rng.choice(factors))
    return f"{value.numerator * 10**30 // value.denominator}e-30" if value else "0"


def change_price(document: Record, rng: random.Random) -> bool:
    leaf = _leaf(document, rng)
    known = [n for n, price in enumerate(leaf["prices"]) if price and Fraction(price) > Fraction(1, 10**12)]
    if known:
        token = rng.choice(known)
        leaf["prices"][token] = _scaled(leaf["prices"][token], rng, "1.01", "0.99", "1.000001", "0.999999", "0")
    return bool(known)


def change_rate(document: Record, rng: random.Random) -> bool:
    """Change the rate of a hop, or the product of a path's."""
    net = _net(document)
    if net is None:
        return False
    leaf = rng.choice(net["leaves"])
    if leaf["rates"] and rng.random() < 0.7:
        row = rng.choice(leaf["rates"])
        row[2] = _scaled(row[2], rng, "1.01", "0.99", "1.000001", "0.999999", "0")
    else:
        leaf["product"] = _scaled(leaf["product"], rng, "0.99", "0.999999", "0")
    return True


def change_order(document: Record, rng: random.Random) -> bool:
    """Turn the order of two tokens, drop it, or state one."""
    net = _net(document)
    if net is None:
        return False
    leaf = rng.choice(net["leaves"])
    if leaf["before"]:
        pair = rng.choice(leaf["before"])
        leaf["before"].remove(pair)
        if rng.random() < 0.5:
            leaf["before"].append(pair[::-1])
    else:
        leaf["before"].append(rng.sample(range(len(document["tokens"])), 2))
    return True


def change_state(document: Record, rng: random.Random) -> bool:
    """Raise a reserve or the liquidity of a pool by a hundredth, without a new hash."""
    pool = rng.choice(document["pools"])
    if "reserves" in pool:
        pool["reserves"][0] = str(int(pool["reserves"][0]) * 101 // 100 + 1)
        return True
    if "liquidity" not in pool:
        return False
    ticks = pool["ticks"]
    below = [row for row in ticks if row[0] <= pool["tick"]]
    above = [row for row in ticks if row[0] > pool["tick"]]
    if not (below and above):
        return False
    more = int(pool["liquidity"]) // 100 + 1
    pool["liquidity"] = str(int(pool["liquidity"]) + more)
    below[-1][1], above[0][1] = str(int(below[-1][1]) + more), str(int(above[0][1]) - more)
    return True


def change_state_and_hash(document: Record, rng: random.Random) -> bool:
    return change_state(document, rng) and _hash(document)


def omit_pool(document: Record, rng: random.Random) -> bool:
    """Without a new count; the pool's directions are no longer listed."""
    document["pools"].remove(rng.choice(document["pools"]))
    return True


def omit_term(document: Record, rng: random.Random) -> bool:
    leaf = _leaf(document, rng)
    if leaf["terms"]:
        leaf["terms"].remove(rng.choice(leaf["terms"]))
    return bool(leaf["terms"])


def raise_output(document: Record, rng: random.Random) -> bool:
    """Of the route, of a step, or of both."""
    route, where = document["route"], rng.randrange(3)
    step = rng.choice(route["steps"])
    for record in [[route], [step], [route, step]][where]:
        record["amountOut"] = str(int(record["amountOut"]) + 1)
    return True


def lower_term(document: Record, rng: random.Random) -> bool:
    terms = [term for term in _leaf(document, rng)["terms"] if Fraction(term[6]) > 0]
    if terms:
        term = rng.choice(terms)
        term[6] = _scaled(term[6], rng, "0.999999", "0.99", "0.5", "0")
    return bool(terms)


def lower_bound(document: Record, rng: random.Random) -> bool:
    bound = rng.choice(document["bounds"])
    record = rng.choice([bound, rng.choice(bound["leaves"])])
    record["bound"] = _scaled(record["bound"], rng, "0.999999", "0.9999999999")
    return True


def narrow_gap(document: Record, rng: random.Random) -> bool:
    bound = rng.choice(document["bounds"])
    bound["gapBps"] = _scaled(bound["gapBps"], rng, "0.9", "0.5", "0")
    return True


def change_gas(document: Record, rng: random.Random) -> bool:
    gas, where = document["gas"], rng.randrange(5)
    if where == 0:
        gas["unitValue"] = _scaled(gas["unitValue"], rng, "1.01", "0.5", "2")
    elif where == 1:
        document["route"]["gasUnits"] = int(document["route"]["gasUnits"]) * rng.choice([99, 50, 120]) // 100
    elif where == 2:
        gas["base"] = int(gas["base"]) * rng.choice([50, 200]) // 100
    elif where == 3:
        gas["tokenBetween"] = int(gas["tokenBetween"]) * rng.choice([50, 300]) // 100
    else:
        pool = rng.choice(document["pools"])
        pool["gas"] = int(pool["gas"]) * rng.choice([50, 200]) // 100
        _hash(document)
    return _net(document) is not None and Fraction(gas["unitValue"]) > 0


def change_hops(document: Record, rng: random.Random) -> bool:
    document["scope"]["maxHops"] = int(document["scope"]["maxHops"]) + rng.choice([1, 3])
    return _net(document) is not None


def lower_limit(document: Record, rng: random.Random) -> bool:
    net = _net(document)
    if net is None or not net["limits"]["tokens"]:
        return False
    rows = net["limits"]["tokens"]
    row = rng.choice(rows)
    if rng.random() < 0.3:
        rows.remove(row)
    else:
        row[1] = _scaled(row[1], rng, "0.999", "0.9", "0.1")
    return True


def change_conditions(document: Record, rng: random.Random) -> bool:
    """Drop a leaf, or make one narrower by a condition."""
    bound = rng.choice(document["bounds"])
    leaves = bound["leaves"]
    if len(leaves) > 1 and rng.random() < 0.6:
        leaves.remove(rng.choice(leaves))
        return True
    leaf = rng.choice(leaves)
    rest = [term[:3] for term in leaf["terms"] if term[:3] not in leaf["used"] + leaf["unused"]]
    if rest:
        leaf[rng.choice(["used", "unused"])].append(rng.choice(rest))
    return bool(rest)


def exclude_direction(document: Record, rng: random.Random) -> bool:
    """List a direction as excluded, without its term: `output` excludes none, and `acyclic` says how many it does."""
    bound = rng.choice([each for each in document["bounds"] if each["kind"] != "afterGas"])
    terms = [term for term in bound["leaves"][0]["terms"] if Fraction(term[6]) > 0]
    if not terms:
        return False
    term = rng.choice(terms)
    bound["leaves"][0]["terms"].remove(term)
    bound["excluded"] = [*bound["excluded"], term[:3]]
    return True


def _hash(document: Record) -> bool:
    text = json.dumps(document["pools"], sort_keys=True, separators=(",", ":"))
    document["scope"]["stateHash"] = sha256(text.encode()).hexdigest()
    document["scope"]["pools"] = len(document["pools"])
    return True


KINDS: Final[Mapping[str, Change]] = {
    "price": change_price,
    "rate": change_rate,
    "order": change_order,
    "state": change_state,
    "state and hash": change_state_and_hash,
    "omitted pool": omit_pool,
    "omitted term": omit_term,
    "output": raise_output,
    "term": lower_term,
    "bound": lower_bound,
    "gap": narrow_gap,
    "gas": change_gas,
    "hops": change_hops,
    "limit": lower_limit,
    "conditions": change_conditions,
    "excluded": exclude_direction,
}
