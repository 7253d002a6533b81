"""The contracts of the families that `settler_recorder` executes, opened with random states.

Each family's contracts are compiled from their published sources into a file beside `settler.json`:

    dodo.json      DODOEX/contractV2: `DVM`, `DPP`, `DSP` and `ConstFeeRateModel` by solc 0.6.9
"""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any, Final

from swapcli.core.model.contract_kind import ContractKind
from swapcli.core.model.pool import Pool
from tests.contracts.evm import DEPLOYER, Contract
from tests.payload.evm.settler_recorder import FamilyPools, World, load_contracts
from tests.support.differential import read_pool

_WAD: Final = 10**18


class DodoPools(FamilyPools):
    """Vending machines, private pools and stable pools with constant fees."""

    family = "dodo_v2"
    protocols = {"dodoDVM": "DODOV2", "dodoDPP": "DODOV2", "dodoDSP": "DODOV2"}  # noqa: RUF012
    source = "DODO V2's pools (github DODOEX/contractV2, compiled by solc 0.6.9)"

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.contracts = load_contracts(world.folder, "dodo")
        self.fees = world.chain.deploy(self.contracts["ConstFeeRateModel"])
        self.fees.send("init", 3 * 10**14)

    def open(self, rng: Random, first: Contract, second: Contract) -> None:
        kind = rng.choice(("dodoDVM", "dodoDPP", "dodoDSP"))
        decimals = [self.world.decimals[token.address] for token in (first, second)]
        rate = 10 ** rng.uniform(-1, 1) if kind != "dodoDSP" else 10 ** rng.uniform(-0.01, 0.01)
        price = max(1, int(rate * 10 ** (18 + decimals[1] - decimals[0])))
        slippage = rng.choice((_WAD, 10**17, 10**14, rng.randrange(_WAD)))
        lp_fee = rng.choice((0, 10**14, 3 * 10**15))
        pool = self.world.chain.deploy(self.contracts[kind.removeprefix("dodo")])
        tokens = first.address, second.address
        if kind == "dodoDPP":
            pool.send("init", DEPLOYER, DEPLOYER, *tokens, lp_fee, self.fees.address, slippage, price, False)
        else:
            pool.send("init", DEPLOYER, *tokens, lp_fee, self.fees.address, price, slippage, False)
        size = 10 ** rng.uniform(4, 6)
        amounts = int(size * 10 ** decimals[0]), int(size * rate * 10 ** decimals[1])
        for token, amount in zip((first, second), amounts, strict=True):
            token.send("transfer", pool.address, amount)
        if kind == "dodoDPP":
            pool.send("reset", DEPLOYER, lp_fee, price, slippage, 0, 0, 0, 0)
        else:
            pool.send("buyShares", DEPLOYER)
        self.world.places[pool.address] = (kind, pool)

    def read(self, protocol: str, place: Any, time_s: int) -> Pool:
        del time_s
        tokens = [str(place.call(name)[0]).lower() for name in ("_BASE_TOKEN_", "_QUOTE_TOKEN_")]
        decimals = tuple(self.world.decimals[token] for token in tokens)
        return replace(read_pool(self.world.chain, ContractKind.DODO_V2, place.address, decimals), protocol=protocol)


FAMILIES: Final[dict[str, type[FamilyPools]]] = {each.family: each for each in (DodoPools,)}
