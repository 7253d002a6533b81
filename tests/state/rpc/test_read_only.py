"""Nothing in the program can sign or send: it names no such method of nodes, and calls no such function of libraries.

The methods that a client may send are all in the source as whole constants. Four modules name others, since they decode
what wallets print, or write what a wallet reads; none of them calls a client.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tests.support.sources import parsed, parsed_with
from tests.test_layers import PACKAGE, import_graph, imports, is_in, module_name

READING_METHODS = frozenset(
    {
        "eth_blockNumber", "eth_call", "eth_chainId", "eth_createAccessList", "eth_estimateGas", "eth_feeHistory",
        "eth_gasPrice", "eth_getBalance", "eth_getBlockByHash", "eth_getBlockByNumber", "eth_getCode", "eth_getLogs",
        "eth_getStorageAt", "eth_getTransactionByHash", "eth_getTransactionCount", "eth_getTransactionReceipt",
        "eth_simulateV1",
        "eth_subscription", "starknet_call", "starknet_chainId", "starknet_getBlockWithTxHashes",
        "starknet_estimateFee", "starknet_getClassHashAt", "starknet_getEvents", "starknet_getNonce",
    }
)  # fmt: skip
"""The methods that the program names: each only reads."""
DECODERS = {"payload.decode.envelopes", "payload.decode.message_requests"}
"""The modules that know the methods by which wallets are asked, to decode what they print."""
HANDOFFS = {"interface.handoff_types", "payload.handoff.wallet_calls"}
"""The modules that write a request for the user to hand to a wallet: `wallet_sendCalls`."""
_METHOD = re.compile(r"(eth|starknet|personal|wallet|engine|admin|miner|txpool|debug|anvil|evm|hardhat)_[a-zA-Z0-9]+")
_SENDING = re.compile(r"send_(raw_)?(private_)?transaction|sign(_\w+)?|transact|replace_transaction|modify_transaction")
_SIGNING_LIBRARIES = {"eth_account", "eth_keys", "coincurve", "ecdsa", "starknet_py"}


def constants(tree: ast.AST) -> Iterator[str]:
    """Yield the text constants, but for docstrings."""
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.value


def requests() -> Iterator[tuple[str, ast.expr]]:
    """Yield the method of each request that the program builds, with its module."""
    for file in PACKAGE.rglob("*.py"):
        for node in ast.walk(parsed_with(file, r"\bRpcRequest\b")):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "RpcRequest":
                yield module_name(file), node.args[0]


def reachable(start: str, graph: dict[str, set[str]]) -> set[str]:
    found, left = {start}, [start]
    while left:
        new = graph.get(left.pop(), set()) - found
        found |= new
        left += new
    return found


def test_the_program_names_methods_that_read_and_no_others() -> None:
    named: dict[str, set[str]] = {}
    modules = {each.relative_to(PACKAGE).with_suffix("").name for each in PACKAGE.rglob("*.py")}
    for file in PACKAGE.rglob("*.py"):
        found = {text for text in constants(parsed_with(file, _METHOD.pattern)) if _METHOD.fullmatch(text)} - modules
        if found and module_name(file) not in DECODERS | HANDOFFS:
            named[module_name(file)] = found
    assert set().union(*named.values()) <= READING_METHODS, named
    assert len(set().union(*named.values())) >= 15, "the methods are found at all"


def test_modules_that_name_methods_of_wallets_reach_no_client() -> None:
    graph = import_graph()
    for decoder in DECODERS:
        assert any(_METHOD.fullmatch(text) for text in constants(parsed(PACKAGE / f"{decoder.replace('.', '/')}.py")))
        assert [name for name in reachable(decoder, graph) if is_in(name, {"state", "quoting", "faces"})] == []
    for writer in HANDOFFS:
        assert [name for name in graph[writer] if is_in(name, {"state", "quoting", "faces"})] == []


def test_no_method_is_put_together() -> None:
    """A method is a constant, or a name that gets one: no text is built, so what is named is all that can be sent."""
    built = [(module, ast.unparse(each)) for module, each in requests()]
    assert len(built) > 15
    for module, method in requests():
        assert isinstance(method, ast.Constant | ast.Name | ast.Attribute), (module, ast.unparse(method))
    for module in {module for module, _ in requests()}:
        texts = constants(parsed(PACKAGE / f"{module.replace('.', '/')}.py"))
        assert [text for text in texts if re.fullmatch(r"(eth|starknet|personal|wallet)_", text)] == [], module


def test_no_library_is_asked_to_sign_or_send() -> None:
    for file in PACKAGE.rglob("*.py"):
        tree = parsed_with(file, rf"\.\s*({_SENDING.pattern})\b")
        names = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        assert [name for name in names if _SENDING.fullmatch(name)] == [], file
        assert not {name.split(".")[0] for name in imports(file)} & _SIGNING_LIBRARIES, file
