"""The gas of conversions at fixed rates: `python -m tests.chain.converter_gas` measures it on a node, and prints.

No package has the bytecode of Spark's PSM, of a vault of savings or of a stablecoin's bridge; the models in
`vaults.sol` read, write and call what those do. The gas of a conversion is that of a pair of Uniswap V2, whose figure
is a fit to thousands of routes, plus the difference of two transactions that are alike in everything else.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from statistics import mean

from swapcli.core.model.swap_type import SwapType
from swapcli.core.model.transaction import RouterRouteParam, RouterSwapParam
from swapcli.families.row import RouterPoolKind
from swapcli.families.uniswap.constant_product import ConstantProduct
from swapcli.testing.evm import DEPLOYER
from tests.chain.anvil import AnvilChain, running_anvil
from tests.payload.evm.router.driving import ALICE, BOB
from tests.payload.evm.router.vault_pools import FAMILIES, VaultPools

PAIR = "constant_product"
_SAVINGS = "savings"
_RESERVE = "0x" + "5e" * 20
_PAIR_FEE = (3_000).to_bytes(3)
_DOLLARS = 1_000


class Converters(VaultPools):
    """The contract fixture with a PSM, a bridge and a vault of savings, and a router that knows them."""

    def give(self, symbol: str, owner: str, amount: int) -> None:
        """As in the fixture; shares of the savings come from a deposit."""
        if symbol != _SAVINGS:
            super().give(symbol, owner, amount)
            return
        vault = self.contracts[_SAVINGS]
        (assets,) = vault.call("previewMint", amount)
        # Interest makes a share dearer until the deposit is mined.
        super().give("DAI", DEPLOYER, 2 * assets)
        self.contracts["DAI"].send("approve", vault.address, 2 * assets)
        vault.send("mint", amount, owner)

    def _open_vault_pools(self) -> None:
        self._open_peg_module()
        self._open_bridge()
        savings = self.chain.deploy(self.models["Savings"], self.address("DAI"), _RESERVE)
        self.give("DAI", _RESERVE, self.dollars("DAI", _DOLLARS))
        self.chain.fund(_RESERVE, 10**18)
        self.contracts["DAI"].send("approve", savings.address, 2**255, sender=_RESERVE)
        vault = self.chain.deploy(self.models["SavingsShares"], savings.address)
        self.contracts[_SAVINGS] = vault
        self._offer_both(RouterPoolKind.VAULT, _SAVINGS, vault, (_SAVINGS, "DAI"), (b"\1", b"\0"))

    def swaps(self) -> Iterator[tuple[str, RouterSwapParam]]:
        """Yield a swap in each direction of every pair and converter, with its family."""
        for place in self.places:
            if place.protocol == "uniswapV2":
                for sold, bought in (place.tokens, place.tokens[::-1]):
                    (number,) = (each.id for each in self.network.protocols if each.amm_name == place.protocol)
                    ends = sold, bought, 1_000_000, number, place.contract.address
                    yield PAIR, RouterSwapParam(*ends, SwapType.TOKEN_TO_TOKEN, _PAIR_FEE)
        for offer in self.offers:
            yield FAMILIES[offer.kind], offer.swap()


def measure_converters(chain: AnvilChain) -> Mapping[str, list[int]]:
    """Return the gas of a swap by family, one for each direction of each pool. All have been used before."""
    fixture = Converters(chain)
    chain.fund(ALICE, 10**18)
    used = defaultdict[str, list[int]](list)
    for _ in range(2):
        used.clear()
        for family, swap in fixture.swaps():
            used[family].append(_gas_of(fixture, chain, swap))
    rest = round(mean(used[PAIR])) - ConstantProduct.swap_gas
    return {family: [each - rest for each in gas] for family, gas in used.items()}


def _gas_of(fixture: Converters, chain: AnvilChain, swap: RouterSwapParam) -> int:
    """Execute a route of one swap from Alice to Bob and return the gas of its transaction."""
    symbol = fixture.symbol(swap.token_in)
    amount = fixture.dollars("DAI" if symbol == _SAVINGS else symbol, _DOLLARS)
    fixture.give(symbol, ALICE, amount)
    for allowed in (0, amount):
        fixture.contracts[symbol].send("approve", fixture.router.address, allowed, sender=ALICE)
    route = RouterRouteParam(swap.token_in, swap.token_out, amount, 1, 1, BOB, SwapType.TOKEN_TO_TOKEN)
    calldata = fixture.router.calldata("swap", tuple(route), [tuple(swap)[:7]])
    receipt = chain.send_with_receipt(fixture.router.address, calldata, sender=ALICE)
    assert receipt.succeeded
    return receipt.gas_used


def main() -> None:
    """Print the mean and the range of each family."""
    with running_anvil() as chain:
        for family, gas in measure_converters(chain).items():
            print(f"{family:18}{mean(gas):10,.0f}{min(gas):10,} to {max(gas):,}")


if __name__ == "__main__":
    main()
