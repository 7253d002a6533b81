"""The possible interpretations of a router's calls: what the rates of a split are fractions of, and how pool data is
encoded.

The public router's code is not published. Its calls can be interpreted in several ways, and a simulation on a node
shows which interpretation is right. Simulation results are stored for each protocol of a router.
"""

from __future__ import annotations

from enum import StrEnum

from swapcli.core.records import NamedTuple


class RateVariant(StrEnum):
    """The amount that a rate is a fraction of."""

    RELATIVE = "relative"
    """The router's current balance of the token."""
    ABSOLUTE_INPUT = "absolute_input"
    """The input of the route for swaps that sell the input token, and the current balance for the others."""
    ABSOLUTE = "absolute"
    """The router's balance of the token before the first swap that sells it."""


class ExtraDataForm(StrEnum):
    """How `extra_data` contains the fee or tick spacing of a pool; `swapcli.payload.evm.extra_data` has the table."""

    TWO_BYTES = "two_bytes"
    WORD = "word"
    EMPTY = "empty"
    THREE_BYTES = "three_bytes"
    TWO_BYTES_OR_WORD = "two_bytes_or_word"


class RouterVariant(NamedTuple):
    """One variant of a router. `forms` has (protocol ID, form) for each protocol whose form is not `extra_data`."""

    rate: RateVariant = RateVariant.RELATIVE
    extra_data: ExtraDataForm = ExtraDataForm.TWO_BYTES
    forms: tuple[tuple[int, ExtraDataForm], ...] = ()

    def form_of(self, protocol_id: int) -> ExtraDataForm:
        """Return the form of the extra data for a protocol's pools."""
        return dict(self.forms).get(protocol_id, self.extra_data)

    def with_form(self, protocol_id: int, form: ExtraDataForm) -> RouterVariant:
        """Return the variant with a different form for one protocol."""
        forms = dict(self.forms) | {protocol_id: form}
        return self._replace(forms=tuple(sorted((key, each) for key, each in forms.items() if each != self.extra_data)))


DEFAULT_VARIANT = RouterVariant()
"""The variant of this project's router contract. Payloads for an unknown router are written for it too."""
