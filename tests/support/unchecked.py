"""The codes of facts that `swapcli decode` could not check, which tests of other facts ignore."""

from __future__ import annotations

from swapcli.core.model.warning import WarningCode

UNCHECKED_CODES = frozenset(code.value for code in WarningCode if code.value.endswith("_UNCHECKED"))
