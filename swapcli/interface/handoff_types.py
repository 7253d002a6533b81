"""Types of the documents for other tools: the formats `safe` and `wallet-calls`."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict


class ContractInputJson(TypedDict):
    """An argument of a function, as in the JSON of an ABI."""

    internalType: str
    name: str
    type: str
    components: NotRequired[list[ContractInputJson]]


class ContractMethodJson(TypedDict):
    """A function of a contract, with the names of its arguments."""

    inputs: list[ContractInputJson]
    name: str
    payable: bool


class SafeTransactionJson(TypedDict):
    """A transaction in a Safe batch: `data`, or the method and its inputs if its ABI is published."""

    to: str
    value: str
    data: str | None
    contractMethod: ContractMethodJson | None
    contractInputsValues: dict[str, str] | None


class SafeMetaJson(TypedDict):
    """The texts that the Transaction Builder shows; `createdFromSafeAddress` is empty if the Safe is unknown."""

    name: str
    description: str
    createdFromSafeAddress: str
    createdFromOwnerAddress: str
    checksum: NotRequired[str]


class SafeBatchJson(TypedDict):
    """A file for Safe's Transaction Builder; `createdAt` is in Unix milliseconds."""

    version: str
    chainId: str
    createdAt: int
    meta: SafeMetaJson
    transactions: list[SafeTransactionJson]


class WalletCallJson(TypedDict):
    """One call in a batch; `value` is in wei, in hex."""

    to: str
    data: str
    value: str


WalletCallsJson = TypedDict(
    "WalletCallsJson",
    {
        "version": str,
        "chainId": str,
        "from": NotRequired[str],
        "atomicRequired": bool,
        "calls": list[WalletCallJson],
    },
)


class WalletCallsRequestJson(TypedDict):
    """A request to a wallet (EIP-5792): the approvals and the swap, executed together or not at all."""

    method: Literal["wallet_sendCalls"]
    params: list[WalletCallsJson]
