"""The router contract: its source, compiled artifact and deployment.

`contracts/` holds the source and `artifact.json` the result; `python -m tests.contracts.build` writes the latter
again, byte for byte. Only who deploys needs this package: to make a payload is a matter of the ABI alone.
"""

from swapcli.families.row import RouterPoolKind
from swapcli.payload.evm.router.deployment import (
    Artifact,
    RouterDeployment,
    build_deployment,
    pool_kind,
    pool_kinds_by_protocol,
    read_artifact,
)

PUBLIC = ("versions",)

__all__ = [
    "Artifact",
    "RouterDeployment",
    "RouterPoolKind",
    "build_deployment",
    "pool_kind",
    "pool_kinds_by_protocol",
    "read_artifact",
]
