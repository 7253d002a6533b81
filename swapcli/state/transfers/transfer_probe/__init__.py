"""Trial transfers of tokens, before anyone trades them: a contract that is never deployed.

`contracts/` holds the source and `artifact.json` what the compiler made of it; `python -m tests.contracts.build` writes
the latter again, byte for byte. The node runs it at pools that hold the tokens by state overrides.
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
