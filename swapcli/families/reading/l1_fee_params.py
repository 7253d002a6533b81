"""Read the L1 data fee parameters from the `GasPriceOracle` of an OP-stack network."""

from __future__ import annotations

from swapcli.core.networks.l1_fee import L1FeeParams
from swapcli.families.reading.call_encoding import encode_call, invalid_response, read_word
from swapcli.families.reading.calls import ContractCall
from swapcli.families.reading.lockstep_reads import BatchRead

_FEES = ("l1BaseFee()", "blobBaseFee()")
_SCALARS = ("baseFeeScalar()", "blobBaseFeeScalar()")
_SCALAR_BITS = 32  # scalars are uint32


def read_l1_fee_params(oracle: str) -> BatchRead[L1FeeParams | None]:
    """Read the parameters in one round, or return None if the contract does not exist or lacks one of them."""
    names = (*_FEES, *_SCALARS)
    answers = yield [ContractCall(oracle, encode_call(name)) for name in names]
    if not all(answers):
        return None
    terms = L1FeeParams(*(read_word(answer, name) for answer, name in zip(answers, names, strict=True)))
    if max(terms.base_fee_scalar, terms.blob_base_fee_scalar) >> _SCALAR_BITS:
        raise invalid_response(_SCALARS[0], "a scalar of more than 32 bits")
    return terms
