"""Simulate a swap for its sender on a node, with a contract that is never deployed.

`contracts/` has the source and `artifact.json` the compiled result; `python -m tests.contracts.build` reproduces the
artifact byte for byte. The node runs it at the sender's address through a state override.
"""

from swapcli.payload.evm.simulation.call import (
    SimulatedCall,
    SimulationRun,
    SimulationStatus,
    decode_run,
    encode_simulate,
    runtime_code,
)
from swapcli.payload.evm.simulation.rehearsal import (
    Rehearsal,
    Trial,
    TrialRun,
    Watch,
    decode_look,
    decode_rehearsal,
    encode_look,
    encode_rehearse,
    encode_relay,
)

PUBLIC = ()

__all__ = [
    "Rehearsal",
    "SimulatedCall",
    "SimulationRun",
    "SimulationStatus",
    "Trial",
    "TrialRun",
    "Watch",
    "decode_look",
    "decode_rehearsal",
    "decode_run",
    "encode_look",
    "encode_rehearse",
    "encode_relay",
    "encode_simulate",
    "runtime_code",
]
