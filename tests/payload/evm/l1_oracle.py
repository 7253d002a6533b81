"""Deploy the published L1 fee oracle of OP-stack networks on a test chain."""

from __future__ import annotations

from swapcli.core.networks.l1_fee import L1FeeParams
from swapcli.testing.evm import Chain, ContractArtifact
from tests.chain.anvil import AnvilChain
from tests.contracts.evm import load_artifact

ORACLE = "0x420000000000000000000000000000000000000f"
_L1_BLOCK = "0x4200000000000000000000000000000000000015"
_DEPOSITOR = "0xdeaddeaddeaddeaddeaddeaddeaddeaddead0001"
_PACKAGE = "@eth-optimism/contracts-bedrock/forge-artifacts"
_SET_VALUES = bytes.fromhex("440a5e20")
"""`setL1BlockValuesEcotone()`, whose arguments are packed."""


def l1_block() -> ContractArtifact:
    """Return the artifact of `L1Block`, which the oracle queries."""
    return load_artifact(f"{_PACKAGE}/L1Block.sol/L1Block.json")


class RealOracle:
    """`GasPriceOracle` 1.3.0 where every network has it, after the Ecotone and Fjord upgrades."""

    def __init__(self, chain: Chain | AnvilChain | None = None) -> None:
        self.chain = chain or Chain()
        artifact = load_artifact(f"{_PACKAGE}/GasPriceOracle.sol/GasPriceOracle.json")
        self.contract = self.chain.place(ORACLE, artifact)
        self.chain.place(_L1_BLOCK, l1_block())
        self.chain.fund(_DEPOSITOR, 10**18)
        for upgrade in ("setEcotone", "setFjord"):
            self.contract.send(upgrade, sender=_DEPOSITOR)

    def set(self, terms: L1FeeParams) -> None:
        """Set the fee parameters as the first transaction of each block does."""
        scalars = terms.base_fee_scalar.to_bytes(4) + terms.blob_base_fee_scalar.to_bytes(4)
        fees = terms.base_fee_wei.to_bytes(32) + terms.blob_base_fee_wei.to_bytes(32)
        calldata = _SET_VALUES + scalars + bytes(24) + fees + bytes(64)
        self.chain.send(_L1_BLOCK, calldata, sender=_DEPOSITOR)

    def fee_wei(self, unsigned: bytes) -> int:
        """Return the contract's L1 fee for the transaction."""
        (fee,) = self.contract.call("getL1Fee", unsigned)
        return int(fee)
