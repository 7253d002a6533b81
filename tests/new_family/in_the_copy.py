"""What runs in a copy of the program that has the new family: `python -m tests.new_family.in_the_copy FOLDER`.

Prints the results as JSON; `test_new_family` says what they must be.
"""

from __future__ import annotations

import json
import sys
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from random import Random

import swapcli
from swapcli.core.model.network import ProtocolInfo
from swapcli.core.model.pool import Pool
from swapcli.core.networks.catalogue import find_network
from swapcli.faces.cli.app import run
from swapcli.families import FAMILIES, family, family_row
from swapcli.families.reading.contract_kinds import contract_kinds
from swapcli.families.reading.pool_readers import ref_of_pool
from swapcli.families.row import PoolUse
from swapcli.payload.evm.extra_data import encode_extra_data
from swapcli.testing.contract_pool import ContractPool, compare_swaps, read_pool
from swapcli.testing.evm import DEPLOYER, Chain, RevertedError
from tests.contracts.evm import compile_solidity

NAME = "constant_sum"
PROTOCOL = ProtocolInfo(1, "sums", "Sums", NAME)
SWAPS = 40


class SumContract(ContractPool):
    """A contract of the family on a chain."""

    def __init__(self, fee_ppm: int) -> None:
        self.chain = Chain()
        token = compile_solidity("kit.sol")["Token"]
        self.coins = sorted((self.chain.deploy(token, 18) for _ in range(2)), key=lambda coin: coin.address.lower())
        here = Path(__file__).parent
        contract = compile_solidity("constant_sum.sol", root=here)["ConstantSum"]
        self.pool = self.chain.deploy(contract, *(coin.address for coin in self.coins), fee_ppm)
        for coin in self.coins:
            coin.send("mint", self.pool.address, 10**24)
            coin.send("mint", DEPLOYER, 10**30)

    def read(self) -> Pool:
        return read_pool(self.chain, NAME, self.pool.address.lower(), (18, 18))

    def sell(self, token_in: str, token_out: str, amount_in: int) -> int | None:
        del token_out
        first = token_in == self.coins[0].address.lower()
        try:
            (paid,) = self.pool.call("swap", first, amount_in)
            self.pool.send("swap", first, amount_in)
        except RevertedError:
            return None
        return int(paid)


def output_of(*arguments: str) -> str:
    with redirect_stdout(StringIO()) as printed:
        status = run(list(arguments))
    assert status in (0, None), (arguments, printed.getvalue())
    return printed.getvalue()


def market_of(pool: Pool) -> dict[str, object]:
    """Return a market file with one pool."""
    network = {
        "name": "sums", "chain_id": 1, "native": {"symbol": "ETH", "name": "Ether", "decimals": 18},
        "wrapped_native": pool.tokens[0], "router": f"0x{'d0' * 20}",
        "protocols": [{"id": 1, "amm_name": "sums", "display_name": "Sums", "family": NAME}],
    }  # fmt: skip
    identity = pool.identity
    tokens = [
        {"address": address, "symbol": symbol, "name": symbol, "decimals": 18, "price_usd": 1.0}
        for address, symbol in zip(identity.tokens, ("ONE", "TWO"), strict=True)
    ]
    entry = {
        "address": identity.address, "protocol": "sums", "family": NAME, "tokens": list(identity.tokens),
        "fee_ppm": identity.fee_ppm, **pool.state(),
    }  # fmt: skip
    return {
        "format": "swap-market/1", "network": network, "block": 1, "timestamp": 1, "provenance": "recorded",
        "source": "a test", "gas_price_wei": "0", "tokens": tokens, "pools": [entry],
    }  # fmt: skip


def main(folder: Path) -> dict[str, object]:
    """Ask every part of the program about the family."""
    contract = SumContract(fee_ppm=2_500)
    pool = contract.read()
    file = folder / "market.json"
    file.write_text(json.dumps(market_of(pool)))
    order = ("sums", "ONE", "TWO", "1000", "--market", str(file), "--json")
    network = find_network("base")._replace(protocols=(PROTOCOL,))
    use = PoolUse(pool, pool.tokens[0], pool.tokens[1], PROTOCOL)
    ref = ref_of_pool(pool, network)
    return {
        "program": str(Path(swapcli.__file__).parent),
        "is known": NAME in FAMILIES and family(NAME) is type(pool),
        "kinds": [str(kind) for kind in contract_kinds(PROTOCOL, network)],
        "kind of a pool": ref and str(ref.kind),
        "swaps like the contract": compare_swaps(contract, Random(1), SWAPS),
        "route": json.loads(output_of("route", *order)),
        "transaction": json.loads(output_of("calldata", *order, "--destination", f"0x{'11' * 20}")),
        "pools": json.loads(output_of("pools", "sums", "--market", str(file), "--json")),
        "router kind": family_row(NAME).router.kind_of(()),
        "extra data": encode_extra_data(use).hex(),
        "fields": family_row(NAME).fields,
        "schema": json.loads(output_of("schema", "pools")),
    }


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]))))
