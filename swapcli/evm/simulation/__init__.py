"""A swap as a node would execute it for its sender, before anybody signs it: a contract that is never deployed.

`contracts/` holds the source and `artifact.json` what the compiler made of it; `python -m tests.contracts.build` writes
the latter anew, byte for byte. A node is asked to suppose that this code stands at the sender's address and is called.
"""

from swapcli.evm.simulation.call import (
    SimulatedCall,
    SimulationRun,
    SimulationStatus,
    decode_run,
    encode_simulate,
    runtime_code,
)

__all__ = ["SimulatedCall", "SimulationRun", "SimulationStatus", "decode_run", "encode_simulate", "runtime_code"]
