"""The lines with the results of a batch of orders."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from swapcli.core.records import NamedTuple
from swapcli.interface.route import render_no_route

if TYPE_CHECKING:
    from swapcli.interface.document_types import BatchLineJson


class BatchLine(NamedTuple):
    """One line with the id of an order in a batch, and its `result`: the JSON of its quote or of its error."""

    id: int | str
    result: Mapping[str, Any]

    @classmethod
    def failed(cls, id: int | str, message: str, code: str) -> BatchLine:  # noqa: A002 - the name in the JSON
        """Return the line for an order that failed, with the error's message and code."""
        return cls(id, {**render_no_route(message), "errorCode": code})

    def document(self) -> BatchLineJson:
        """Return the JSON of one line that `swapcli route --batch` prints."""
        return {"id": self.id, "result": {**self.result}}
