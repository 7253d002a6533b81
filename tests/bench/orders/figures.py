"""Quotes of users' orders that meet every bar."""

from __future__ import annotations

from collections.abc import Sequence

from bench.optimum.net_proof import Proof
from bench.orders.ablation import Ablation
from bench.orders.figures import compare
from bench.orders.in_turn import Quotes, Row
from bench.orders.question import OrderFigures, Proofs
from bench.orders.small_markets import Judged
from bench.worlds.world import World, WorldOrder
from tests.support.pools import build_random_market

MICRO_USD = 1e-6
JUDGED = Judged("small 1 0", 0, 0.0)
WORLD = World("real", "real somewhere 1", build_random_market(1), (WorldOrder("0xa", "0xb", 10**7),) * 4)


def routed(amount_out: int, *, amount_in: int = 10**7, gas_units: int = 100_000, ms: float = 1.0) -> Row:
    """Return the row of an order whose base units are worth a millionth of a dollar; ether is worth 2,000."""
    return Row(ms, amount_in, amount_out, gas_units, 2_000 / 10**18, MICRO_USD)


def quotes(*rows: Sequence[Row], gas_gwei: float, world: World = WORLD) -> Quotes:
    return Quotes(world, gas_gwei, [WORLD.orders[0]] * len(rows[0]), rows)


def paired(kind: str, gas_gwei: float) -> Quotes:
    rows = [routed(10**9, ms=1.0)] * 3
    return quotes(rows, rows, gas_gwei=gas_gwei, world=WORLD._replace(kind=kind))


def ablation(mechanism: str, amount_out: int) -> Ablation:
    """Return a mechanism without which an order pays `amount_out` instead of 1e9."""
    return Ablation(mechanism, compare(quotes([routed(amount_out)], [routed(10**9)], gas_gwei=0.01), 1))


def order_figures() -> OrderFigures:
    """Return figures that meet every bar."""
    found = [paired("real", gas) for gas in (0.0, 0.01, 1.0)]
    found += [paired(kind, 0.01) for kind in ("random", "pushed")] + [paired("generated", 0.0)]
    reverse = found[0]._replace(orders=[order._replace(reverse=True) for order in found[0].orders])
    proofs = [
        Proofs(WORLD._replace(kind=kind), 1.0, [Proof(0.01, True, 0.1, 0.5)]) for kind in ("real", "random", "pushed")
    ]
    mechanisms, small_markets = [ablation("detours", 10**8)], [JUDGED] * 3
    quoted = [found[0], reverse, *found[1:]]
    return OrderFigures(["this", "abc"], quoted, proofs, [1e-4, 0.01], mechanisms, small_markets)
