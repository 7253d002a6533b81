"""Lists what an installed swapcli runs on, as a CycloneDX document: `python -m tests.generate.sbom`.

The document describes the environment of the interpreter that runs this module: swapcli, every distribution that it
requires there, directly or not, and those of its optional extra `redis`, marked as optional. It says nothing that
changes from one run to the next, so that two environments with the same distributions have the same document.
"""

from __future__ import annotations

import json
import platform
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from typing import NamedTuple
from uuid import NAMESPACE_URL, uuid5

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PROGRAM = "swapcli"
OPTIONAL_EXTRAS = ("redis",)
"""Extras for users. The others are for developers."""
SPEC_VERSION = "1.6"


class Component(NamedTuple):
    """An installed distribution, and the names of those that it requires in this environment."""

    installed: Distribution
    is_optional: bool
    requires: tuple[str, ...]


def components(program: str = PROGRAM, extras: Sequence[str] = OPTIONAL_EXTRAS) -> dict[str, Component]:
    """Return the program and all that it requires here, by normalized name.

    Raises `PackageNotFoundError` if a required distribution is not installed. An extra without its distributions is
    left out.
    """
    found = _closure(program, ())
    for extra in extras:
        try:
            more = _closure(program, (extra,))
        except PackageNotFoundError:
            continue
        optional = {name: each._replace(is_optional=True) for name, each in more.items() if name not in found}
        found |= optional
    return found


def _closure(program: str, extras: Sequence[str]) -> dict[str, Component]:
    found: dict[str, Component] = {}
    seen: set[tuple[str, tuple[str, ...]]] = set()
    waiting = [(canonicalize_name(program), tuple(extras))]
    while waiting:
        name, wanted = waiting.pop()
        if (name, wanted) in seen:
            continue
        seen.add((name, wanted))
        installed = distribution(name)
        required = list(_requirements(installed, wanted))
        before = found[name].requires if name in found else ()
        names = tuple(sorted({*before, *(canonicalize_name(each.name) for each in required)}))
        found[name] = Component(installed, False, names)
        waiting += [(canonicalize_name(each.name), tuple(sorted(each.extras))) for each in required]
    return dict(sorted(found.items()))


def _requirements(installed: Distribution, extras: Sequence[str]) -> Iterator[Requirement]:
    for text in installed.requires or ():
        requirement = Requirement(text)
        marker = requirement.marker
        if marker is None or any(marker.evaluate({"extra": extra}) for extra in ("", *extras)):
            yield requirement


def render(
    hashes: Mapping[str, str] | None = None, tools: Mapping[str, str] | None = None, timestamp: str | None = None
) -> str:
    """Return the document.

    `hashes` has the SHA-256 of each built file by its name, `tools` the versions of what built them, and `timestamp`
    is that of the release.
    """
    found = components()
    program = found.pop(PROGRAM)
    described: dict[str, object] = _component(PROGRAM, program, "application")
    described["externalReferences"] = [
        {"type": "distribution", "url": name, "hashes": [{"alg": "SHA-256", "content": digest}]}
        for name, digest in sorted((hashes or {}).items())
    ]
    metadata: dict[str, object] = {
        "tools": {
            "components": [
                {"type": "application", "name": name, "version": version}
                for name, version in sorted((tools or {}).items())
            ]
        },
        "component": described,
        "properties": [
            {"name": "swapcli:python", "value": f"{sys.version_info.major}.{sys.version_info.minor}"},
            {"name": "swapcli:platform", "value": f"{platform.system().lower()}-{platform.machine()}"},
        ],
    }
    if timestamp is not None:
        metadata["timestamp"] = timestamp
    body: dict[str, object] = {
        "metadata": metadata,
        "components": [_component(name, each, "library") for name, each in found.items()],
        "dependencies": [
            {"ref": _purl(each.installed), "dependsOn": _references(each, {PROGRAM: program, **found})}
            for each in (program, *found.values())
        ],
    }
    head = {
        "$schema": f"http://cyclonedx.org/schema/bom-{SPEC_VERSION}.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": SPEC_VERSION,
        "serialNumber": f"urn:uuid:{uuid5(NAMESPACE_URL, json.dumps(body, sort_keys=True))}",
        "version": 1,
    }
    return json.dumps(head | body, indent=1, ensure_ascii=False) + "\n"


def _references(component: Component, found: Mapping[str, Component]) -> list[str]:
    return [_purl(found[name].installed) for name in component.requires]


def _component(name: str, component: Component, kind: str) -> dict[str, object]:
    installed = component.installed
    described: dict[str, object] = {
        "type": kind,
        "bom-ref": _purl(installed),
        "name": name,
        "version": installed.version,
        "purl": _purl(installed),
    }
    licenses = _licenses(installed)
    if licenses:
        described["licenses"] = licenses
    if kind == "library":
        described["scope"] = "optional" if component.is_optional else "required"
    return described


def _licenses(installed: Distribution) -> list[dict[str, object]]:
    """Return what the distribution says of its license: an SPDX expression (PEP 639), classifiers, or a short text."""
    headers = installed.metadata
    if "License-Expression" in headers:
        return [{"expression": headers["License-Expression"]}]
    classified = [
        each.rpartition(" :: ")[2] for each in headers.get_all("Classifier", []) if each.startswith("License :: ")
    ]
    named = classified or [each for each in headers.get_all("License", []) if each and "\n" not in each]
    return [{"license": {"name": name}} for name in named]


def _purl(installed: Distribution) -> str:
    version = re.sub(r"[^\w.~-]", lambda found: f"%{ord(found[0]):02X}", installed.version)
    return f"pkg:pypi/{canonicalize_name(installed.metadata['Name'])}@{version}"


if __name__ == "__main__":
    sys.stdout.write(render())
