"""Fill a fresh anvil with three Uniswap V2 pools and a router, and describe the network in local.json.

    npm install @foundry-rs/anvil @uniswap/v2-core canonical-weth
    node_modules/.bin/anvil
    python examples/local_chain/deploy.py

Run it once per anvil, from the folder that has node_modules. Anvil signs for its last account, which owns everything.
"""

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import Request, urlopen

from swapcli import add_network, router_deployment

WETH, USDC, DAI = "WETH", "USDC", "DAI"
DECIMALS = {WETH: 18, USDC: 6, DAI: 18}
POOLS = {(WETH, USDC): (1_000, 3_000_000), (WETH, DAI): (300, 900_600), (DAI, USDC): (2_000_000, 2_000_000)}
"""The liquidity of each pool, in whole tokens."""
# The first four bytes of each call: `cast sig "mint(address)"` prints one.
CREATE_PAIR, GET_PAIR, DEPOSIT, TRANSFER, MINT = "c9c65396", "e6a43905", "d0e30db0", "a9059cbb", "6a627842"
HERE = Path(__file__).parent


class Node:
    """An anvil, whose last account sends every transaction."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.owner = self.ask("eth_accounts")[-1]

    def ask(self, method: str, *params: object) -> Any:
        """Return the result of a request."""
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
        try:
            with urlopen(Request(self.url, body, {"Content-Type": "application/json"}), timeout=30) as response:
                found = json.load(response)
        except URLError as error:
            sys.exit(f"no node at {self.url}: {error.reason}; start anvil")
        if "error" in found:
            sys.exit(f"{method}: {found['error']['message']}")
        return found["result"]

    def send(self, data: str, to: str | None = None, wei: int = 0) -> str:
        """Send a transaction; return the contract that it created or called."""
        call = {"from": self.owner, "data": f"0x{data.removeprefix('0x')}", "value": hex(wei)}
        sent = self.ask("eth_sendTransaction", call | ({"to": to} if to else {}))
        receipt = None
        while receipt is None:
            receipt = self.ask("eth_getTransactionReceipt", sent)
        return str(receipt["contractAddress"] or to)


def word(value: int | str) -> str:
    """Encode a number or an address."""
    return f"{value if isinstance(value, int) else int(value, 16):064x}"


def coin(symbol: str, decimals: int, supply: int) -> str:
    """Return the code that creates a token."""
    code = json.loads((HERE / "artifact.json").read_text())["bytecode"]
    text = symbol.encode()
    return str(code) + word(96) + word(decimals) + word(supply) + word(len(text)) + text.hex().ljust(64, "0")


def package(path: str) -> str:
    """Return the code of a published contract."""
    file = Path("node_modules", path)
    if not file.is_file():
        sys.exit(f"{file} is missing: run npm install @uniswap/v2-core canonical-weth")
    return str(json.loads(file.read_text())["bytecode"])


def deploy(node: Node) -> dict[str, Any]:
    """Deploy tokens and pools; return the network's definition."""
    weth = node.send(package("canonical-weth/build/contracts/WETH9.json"))
    node.send(DEPOSIT, weth, 2_000 * 10**18)
    supply = 10**9
    tokens = {WETH: weth} | {
        name: node.send(coin(name, n, supply * 10**n)) for name, n in DECIMALS.items() if name != WETH
    }
    factory = node.send(package("@uniswap/v2-core/build/UniswapV2Factory.json") + word(node.owner))
    for pair, amounts in POOLS.items():
        addresses = "".join(word(tokens[each]) for each in pair)
        node.send(CREATE_PAIR + addresses, factory)
        pool = f"0x{node.ask('eth_call', {'to': factory, 'data': f'0x{GET_PAIR}{addresses}'}, 'latest')[-40:]}"
        for symbol, amount in zip(pair, amounts, strict=True):
            node.send(TRANSFER + word(pool) + word(amount * 10 ** DECIMALS[symbol]), tokens[symbol])
        node.send(MINT + word(node.owner), pool)
    return {
        "name": "local",
        "chain_id": int(node.ask("eth_chainId"), 16),
        "native": {"symbol": "ETH", "name": "Ether", "decimals": 18},
        "wrapped_native": weth,
        "rpc_urls": [node.url],
        "tokens": [
            {"address": tokens[each], "symbol": each, "name": each, "decimals": n} for each, n in DECIMALS.items()
        ],
        "stablecoins": [tokens[USDC]],
        "protocols": [
            {"id": 0, "amm_name": "wrapper", "display_name": "Wrapper", "family": "wrapper"},
            {"id": 1, "amm_name": "uniswapV2", "display_name": "Uniswap V2", "family": "constant_product"},
        ],
        "deployments": [
            {
                "protocols": ["uniswapV2"],
                "name": "Uniswap V2",
                "addresses": {"factory": factory},
                "fee_tiers": {"3000": 0},
            }
        ],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rpc-url", default=os.environ.get("ETH_RPC_URL", "http://127.0.0.1:8545"))
    node = Node(parser.parse_args().rpc_url)
    definition = deploy(node)
    save(definition)
    definition["routers"] = {"own": {"address": node.send(router_deployment("local").transaction.calldata)}}
    save(definition)
    # Pools that are new in the latest block would use more gas in the next one.
    node.ask("evm_increaseTime", 12)
    node.ask("evm_mine")
    print(f"local.json describes the network local at {node.url}")


def save(definition: dict[str, Any]) -> None:
    """Write the definition to a file, and add the network to yours."""
    Path("local.json").write_text(json.dumps(definition, indent=2) + "\n")
    add_network("local.json", replace=True)


if __name__ == "__main__":
    main()
