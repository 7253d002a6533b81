"""Try transfers of tokens before anyone trades them, with a contract that is never deployed.

`contracts/` has the source, and `artifact.json` the compiler's output, which `python -m tests.contracts.build`
reproduces byte for byte. With state overrides, the node runs this contract at the addresses of pools that hold the
tokens.
"""

from swapcli.state.transfers.transfer_probe.call import (
    TransferTrial,
    TrialResult,
    classify_transfers,
    decode_codes,
    decode_trials,
    delegating_code,
    encode_codes,
    encode_try_all,
    guarding_code,
    runtime_code,
)

PUBLIC = ()

__all__ = [
    "TransferTrial",
    "TrialResult",
    "classify_transfers",
    "decode_codes",
    "decode_trials",
    "delegating_code",
    "encode_codes",
    "encode_try_all",
    "guarding_code",
    "runtime_code",
]
