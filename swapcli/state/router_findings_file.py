"""Remember between runs how routers interpret their calls, in a small file.

A router is identified by its chain and address. Its findings are forgotten when its code changes.
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Final, TypeVar

from swapcli.core.model.router_findings import NO_FINDINGS, RouterFinding, RouterFindings
from swapcli.core.model.router_variant import ExtraDataForm, RateVariant
from swapcli.state.remembered_json import read_json_file, write_json_file

_ROUTERS: Final = "routers"
_Value = TypeVar("_Value", bound=StrEnum)


class RouterFindingsFile:
    """The findings about routers in the file at `path`.

    >>> findings = RouterFindingsFile(folder / "router-readings.json").load(8453, router)
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def load(self, chain_id: int, router: str) -> RouterFindings:
        """Return the remembered findings about a router; `NO_FINDINGS` if there are no valid ones."""
        try:
            return _parse(read_json_file(self._path, _ROUTERS)[_router_key(chain_id, router)])
        except (KeyError, TypeError, ValueError, AttributeError):
            return NO_FINDINGS

    def save(self, chain_id: int, router: str, findings: RouterFindings) -> None:
        """Replace the remembered findings about a router; `NO_FINDINGS` removes them. Entries for other routers do not
        change."""
        routers, key = read_json_file(self._path, _ROUTERS), _router_key(chain_id, router)
        if findings.protocols:
            routers[key] = _document(findings)
        elif routers.pop(key, None) is None:
            return
        write_json_file(self._path, _ROUTERS, routers)


def _router_key(chain_id: int, router: str) -> str:
    return f"{chain_id}:{router.lower()}"


def _document(findings: RouterFindings) -> dict[str, object]:
    protocols = {str(protocol_id): found._asdict() for protocol_id, found in findings.protocols.items()}
    return {"code_hash": findings.code_hash, "protocols": protocols}


def _parse(document: object) -> RouterFindings:
    if not isinstance(document, dict):
        raise TypeError
    protocols = {int(protocol_id): _parse_finding(each) for protocol_id, each in document["protocols"].items()}
    return RouterFindings(str(document["code_hash"]), protocols)


def _parse_finding(document: dict[str, object]) -> RouterFinding:
    block, found_s = document["block"], document["found_s"]
    if not isinstance(block, int) or not isinstance(found_s, int):
        raise TypeError
    return RouterFinding(
        _values(RateVariant, document["rates"]), _values(ExtraDataForm, document["forms"]), block, found_s
    )


def _values(kind: type[_Value], names: object) -> tuple[_Value, ...]:
    if not isinstance(names, list) or not names:
        raise TypeError
    return tuple(kind(name) for name in names)
