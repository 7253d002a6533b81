"""The codes of facts that `swapcli decode` could not check, which tests of other facts ignore."""

from __future__ import annotations

from swapcli.core.model.finding import FindingCode

UNCHECKED_CODES = frozenset(code.value for code in FindingCode if code.value.endswith("_UNCHECKED"))
