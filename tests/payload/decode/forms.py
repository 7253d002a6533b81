"""A swap in every form in which wallets, libraries, nodes and services hand it on, all honest."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from swapcli.core.networks.permit2 import PERMIT2
from swapcli.payload.starknet.felts import APPROVE_SELECTOR, SWAP_SELECTOR

Json = dict[str, Any]
ME, STRANGER, ZERO = "0x" + "1" * 40, "0x" + "99" * 20, "0x" + "0" * 40
HASH = "0x" + "ab" * 32
_NATIVE = {"name": "Ether", "symbol": "ETH", "decimals": 18}
_SAFE = {"operation": 0, "safeTxGas": "0", "baseGas": "0", "gasPrice": "0", "gasToken": ZERO, "refundReceiver": ZERO}
_SELECTORS = {"approve": APPROVE_SELECTOR, "swap": SWAP_SELECTOR}


def evm_forms(to: str, data: str, value: int) -> Mapping[str, Any]:
    """Return whole transactions from `ME` on Base with a value, by a name of their form."""
    call = {"to": to, "data": data, "value": hex(value)}
    sent = {"from": ME, **call, "chainId": "0x2105"}
    number = {"from": ME, "to": to, "data": data, "value": str(value)}
    mined = {
        **{name: each for name, each in sent.items() if name != "data"}, "input": data, "hash": HASH, "nonce": "0x4",
        "gas": "0x493e0", "gasPrice": "0x1", "type": "0x2", "accessList": [], "blockNumber": "0x1", "r": "0x1",
    }  # fmt: skip
    safe = {"to": to, "data": data, "value": str(value), **_SAFE, "nonce": 5}
    fees = {"gas": 300_000, "maxFeePerGas": 20_000_000, "maxPriorityFeePerGas": 1_000, "nonce": 4}
    request = {"method": "eth_sendTransaction", "params": [sent]}
    calls = {"version": "2.0.0", "chainId": "0x2105", "from": ME, "atomicRequired": True, "calls": [call]}
    return {
        "eth_sendTransaction": request,
        "eth_signTransaction": {"id": 1, "jsonrpc": "2.0", "method": "eth_signTransaction", "params": [sent]},
        "wallet_sendTransaction": {"method": "wallet_sendTransaction", "params": [sent]},
        "wallet_sendCalls": {
            "method": "wallet_sendCalls",
            "params": [{**calls, "capabilities": {"paymasterService": {"url": "https://pay.example"}}}],
        },
        "WalletConnect": {"id": 1, "topic": HASH, "params": {"request": request, "chainId": "eip155:8453"}},
        "WalletConnect, JSON-RPC": {
            "id": 1, "jsonrpc": "2.0", "method": "wc_sessionRequest",
            "params": {"request": {**request, "expiryTimestamp": 1}, "chainId": "eip155:8453"},
        },
        "WalletConnect, client": {"topic": HASH, "chainId": "eip155:8453", "request": request},
        "viem": {
            "account": ME, "to": to, "data": data, "value": f"{value}n",
            "chain": {"id": 8453, "name": "Base", "nativeCurrency": _NATIVE, "contracts": {"l2": {"address": ZERO}}},
        },
        "viem, local account": {
            "account": {"address": ME, "type": "local"}, "to": to, "data": data,
            "value": {"__type": "bigint", "value": str(value)}, "type": "eip1559", "chainId": 8453,
        },
        "ethers": {**number, "_type": "TransactionRequest", "chainId": "8453", "gasLimit": "300000", "type": 2},
        "ethers 5": {**number, "value": {"type": "BigNumber", "hex": hex(value)}, "chainId": 8453},
        "ethers, response": {
            **number, "_type": "TransactionResponse", "accessList": [], "blobVersionedHashes": None, "chainId": "8453",
            "gasLimit": "300000", "hash": HASH, "signature": {"_type": "signature", "r": "0x1", "s": "0x2", "v": 28},
        },
        "web3.py": {"from": ME, "to": to, "data": data, "value": value, "chainId": 8453, **fees, "type": "0x2"},
        "node": {"jsonrpc": "2.0", "id": 1, "result": mined},
        "node, alone": mined,
        "node, list": {"jsonrpc": "2.0", "id": 1, "result": [mined]},
        "list": [sent],
        "Safe": {**safe, "from": ME, "chainId": 8453},
        "Safe, service": {
            **safe, "safe": ME, "from": ME, "network_id": 8453, "isExecuted": False,
            "confirmations": [{"owner": ME, "signature": "0x" + "11" * 65, "signatureType": "EOA"}],
            "dataDecoded": {"method": "swap", "parameters": [{"name": "route", "type": "tuple", "value": ["0x1"]}]},
        },
        "Safe, kit": {"data": {**safe, "from": ME, "chainId": 8453}, "signatures": {}},
        "LI.FI": {
            "type": "lifi", "tool": "x", "action": {"fromChainId": 8453, "fromAddress": ME, "toAddress": ME},
            "estimate": {"approvalAddress": to, "gasCosts": [{"type": "SEND", "price": "1", "amount": "3"}]},
            "includedSteps": [{"id": "y", "type": "swap", "action": {"fromChainId": 8453}}],
            "transactionRequest": {**sent, "chainId": 8453, "gasLimit": "0x493e0"},
        },
        "0x": {
            "issues": {"allowance": {"actual": "0", "spender": PERMIT2}, "balance": None},
            "route": {"fills": [{"from": ZERO, "to": STRANGER, "source": "Uniswap_V3", "proportionBps": "10000"}]},
            "transaction": {**sent, "gas": "300000", "gasPrice": "1000000"},
        },
        "0x, allowance holder": {"issues": {"allowance": {"actual": "0", "spender": to}}, "transaction": sent},
        "1inch": {"dstAmount": "1", "tx": {**number, "gas": 300_000, "gasPrice": "1000000", "chainId": 8453}},
        "Odos": {
            "inputTokens": [{"tokenAddress": ZERO, "amount": "1"}], "transaction": {**number, "chainId": 8453},
            "simulation": {"isSuccess": True, "amountsOut": [1]},
        },
        "OpenOcean": {"code": 200, "data": {"inToken": {"symbol": "ETH"}, **number, "chainId": 8453}},
        "ParaSwap": {**number, "gasPrice": "1000000", "chainId": 8453},
        "Uniswap": {"requestId": "x", "swap": {**number, "chainId": 8453}, "gasFee": "1"},
        "nested": {"result": {"response": {"tx": sent}}},
        "JSON text": json.dumps(json.dumps(sent)),
        "CAIP-2": {**number, "caip2": "eip155:8453"},
        "a chain by its CAIP-2 id": {**number, "chain": "eip155:8453"},
        "a chain by its number": {**number, "chain": 8453},
        "networkId": {**number, "networkId": "8453"},
        "network_id": {**number, "network_id": 8453},
        "a network as an object": {**number, "network": {"chainId": 8453, "name": "base"}},
    }  # fmt: skip


def account_felts(calls: Sequence[Json], *, is_table: bool = False) -> list[str]:
    """Return the arguments of `__execute__` for calls of `swapcli calldata`: of Cairo 1, or the table of Cairo 0."""
    head, body = [len(calls)], list[int]()
    for call in calls:
        felts = list(map(int, call["calldata"]))
        place = [len(body), len(felts)] if is_table else [len(felts), *felts]
        head += [int(call["to"], 16), _SELECTORS[call["entrypoint"]], *place]
        body += felts
    return list(map(hex, [*head, len(body), *body] if is_table else head))


def starknet_forms(calls: Sequence[Json]) -> Mapping[str, Any]:
    """Return the calls of `swapcli calldata` on Starknet as accounts and wallets are given them."""
    of_library = [
        {"contractAddress": each["to"], "entrypoint": each["entrypoint"], "calldata": each["calldata"]}
        for each in calls
    ]
    of_wallet = [
        {"contract_address": each["to"], "entry_point": each["entrypoint"], "calldata": each["calldata"]}
        for each in calls
    ]
    by_selector = [
        {"to": each["to"], "selector": hex(_SELECTORS[each["entrypoint"]]), "calldata": each["calldata"]}
        for each in calls
    ]
    invoke = {
        "type": "INVOKE", "version": "0x3", "sender_address": "0x0" + "1" * 63, "calldata": account_felts(calls),
        "nonce": "0x1", "signature": ["0x1", "0x2"], "tip": "0x0", "paymaster_data": [], "account_deployment_data": [],
        "resource_bounds": {"l1_gas": {"max_amount": "0x1", "max_price_per_unit": "0x2"}},
    }  # fmt: skip
    method = {"id": 1, "jsonrpc": "2.0", "method": "starknet_addInvokeTransaction"}
    return {
        "get-starknet": {"type": "wallet_addInvokeTransaction", "params": {"calls": of_wallet}},
        "get-starknet, list": {"method": "wallet_addInvokeTransaction", "params": [{"calls": of_wallet}]},
        "get-starknet, chain": {
            "type": "wallet_addInvokeTransaction", "params": {"calls": of_wallet}, "chainId": "0x534e5f4d41494e"
        },
        "starknet.js": of_library,
        "starknet.js, object": {"calls": of_library, "chainId": "SN_MAIN"},
        "by selectors": by_selector,
        "version 3": invoke,
        "version 1": {**invoke, "version": "0x1", "max_fee": "0x1"},
        "Cairo 0": {**invoke, "version": "0x1", "calldata": account_felts(calls, is_table=True)},
        "node": {"jsonrpc": "2.0", "id": 1, "result": {**invoke, "transaction_hash": "0x1"}},
        "request to a node": {**method, "params": {"invoke_transaction": invoke}},
        "request to a node, list": {**method, "params": [invoke]},
    }  # fmt: skip
