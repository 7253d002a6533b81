"""The router contract: its source, compiled artifact and deployment.

`contracts/` has the source and `artifact.json` the compiled result; `python -m tests.contracts.build` reproduces the
artifact byte for byte. Only deployment needs this package: payloads depend on the ABI alone.
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
