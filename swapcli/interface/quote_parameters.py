"""The table of quote parameters. Each parameter is one row. A parameter exists in every interface for which its row has
a text.

Command options and settings, the arguments of tools, the service's parameters with their OpenAPI descriptions, and the
fields of orders and requests are derived from the table. Only types are repeated: for programs in
`quoting.quote_keywords`, for settings in `quoting.config.settings`.
"""

from __future__ import annotations

from typing import Any, Final

from swapcli.core.errors import InvalidOption
from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.network import AUTO, DIALECTS, is_dialect
from swapcli.core.model.order import DEFAULT_MAX_HOPS, MAX_HOPS
from swapcli.core.model.quote_request import SharePrecision
from swapcli.core.model.swap_terms import DEFAULT_SLIPPAGE_PPM, MAX_FEE_BPS, MAX_SURPLUS_BPS
from swapcli.core.model.units import DAY_S
from swapcli.core.records import NamedTuple
from swapcli.interface.value_types import (
    ADDRESS,
    FLAG,
    GAS_PRICE,
    PERCENTAGE,
    TEXTS,
    ValueType,
    choice,
    seconds,
    whole_number,
)

ROUTING: Final = "Routing"
ANSWER: Final = "Quote and payload"
INTEGRATOR: Final = "Integrator (API v2, needs an API key)"
"""The panels on help pages that have quote parameters."""

_API_VERSIONS = tuple(each.value for each in ApiVersion)
_SHARES = tuple(each.value for each in SharePrecision)
_DIALECTS = (AUTO, *DIALECTS)
_POOL_COUNT = whole_number(1, 999_999)._replace(expected="a whole number above zero")

_QUOTE, _BATCH, _BUILD, _CHECK = "quote", "quote_batch", "build_transaction", "check"
_LIMITED = (_QUOTE, "compare", "depth", _BUILD, _CHECK)
_PROTOCOLS = (*_LIMITED, _BATCH, "plan")


class QuoteParameter(NamedTuple):
    """A parameter of a quote. The parameter does not exist in an interface whose text is empty.

    `name` is its name on the command line (`--max-hops`), among the arguments of tools and, if it `is_keyword`, in the
    library. `option` is the option's help text, in a `panel` of the help page; an option without `metavar` is a flag.
    With `is_limit`, commands that quote an order in several ways have it too. `tools` are the agent tools that accept
    it; `tool` replaces the help text there.

    `setting` explains the setting; `key` is its dotted name in files if that differs from `name`, and `example` is a
    value to show if there is no default.

    `query` is the name of the service's parameter, which `description` explains; `served` is its default. If the
    parameter cannot be sent to a service, `unsent` names it in the error of a remote quote.

    `field` is the field of `Order` or of `QuoteRequest` that receives the value unchanged; it is empty if the value
    needs other code. Settings with such a field have it under the same name.
    """

    name: str
    value_type: ValueType[Any]
    option: str = ""
    metavar: str | None = None
    panel: str = ROUTING
    default: object = None
    field: str = ""
    is_limit: bool = False
    is_keyword: bool = True
    tools: tuple[str, ...] = ()
    tool: str | None = None
    setting: str = ""
    key: str = ""
    example: str = ""
    query: str = ""
    description: str = ""
    served: object = None
    unsent: str = ""

    @property
    def flag(self) -> str:
        """The parameter's name as a command-line option."""
        return "--" + self.name.replace("_", "-")

    def parse_option(self, text: str) -> Any:
        """Parse the text of an option that is not a setting. Raises `InvalidOption`."""
        try:
            return self.value_type.parse(text)
        except ValueError:
            problem = f"{self.flag}: expected {self.value_type.expected}"
            raise InvalidOption(problem, hint=f"such as {self.flag} {self.example}") from None


QUOTE_PARAMETERS: Final[tuple[QuoteParameter, ...]] = (
    QuoteParameter(
        "reverse", FLAG, "AMOUNT is the amount to buy; it is not guaranteed.", default=False, field="reverse",
        tools=(_QUOTE, _BATCH, _BUILD), tool="amount is the amount to buy.",
    ),
    QuoteParameter(
        "direct", FLAG, "Use a single hop.", default=False, field="direct", tools=(_QUOTE, _BUILD),
        query="direct", description="Use paths of a single hop only.", served=False,
    ),
    QuoteParameter(
        "max_hops", whole_number(1, MAX_HOPS), f"Maximum number of hops per path.  [default: {DEFAULT_MAX_HOPS}]", "N",
        default=DEFAULT_MAX_HOPS, field="max_hops", is_limit=True, tools=(*_LIMITED, _BATCH), tool="Per path. [8]",
        setting="Maximum hops per path.", unsent="a number of hops, except for direct swaps",
    ),
    QuoteParameter(
        "max_pools", _POOL_COUNT, "Limit the number of pools, and show the cost.", "N", field="max_pools",
        tools=(_QUOTE, _BUILD), tool="Maximum number of pools.", example="4", unsent="a number of pools",
    ),
    QuoteParameter(
        "simple", FLAG, "Use one path, one pool per hop, and show the cost.", default=False,
        field="single_path", tools=(_QUOTE, _BUILD), tool="One path, one pool per hop.", unsent="a number of pools",
    ),
    QuoteParameter(
        "exclude_protocols", TEXTS, "Skip these protocols, by id or name: a,b,c.", "LIST", default=(),
        is_limit=True, tools=_PROTOCOLS, tool="Ids or names.",
        setting="Protocols that routes skip.", example="[uniswapV2]",
    ),
    QuoteParameter(
        "only_protocols", TEXTS, "Use only these protocols, by id or name: a,b,c.", "LIST", default=(),
        is_limit=True, tools=_PROTOCOLS, tool="",
        setting="The only protocols that routes use. Default: all of the Fibrous API.",
        example="[uniswapV3, uniswapV4]",
    ),
    QuoteParameter(
        "extended_protocols", FLAG, "Also use protocols outside the Fibrous API.", default=False,
        is_limit=True, tools=_LIMITED, tool="Also those outside the Fibrous API.",
        setting="Also use protocols outside the Fibrous API, in routes and sync.",
    ),
    QuoteParameter(
        "shares", choice(_SHARES, SharePrecision), "Round path shares to 0.01% or 1%.  [default: fine]",
        "fine|whole", field="shares", tools=(_QUOTE,),
        setting="Round path shares to 0.01% (fine) or 1% (whole). Default: fine, or the service's.",
        example="whole", query="shares", served=SharePrecision.WHOLE,
        description="Precision of the shares of the paths: whole percents, or hundredths of a percent, which pay more.",
    ),
    QuoteParameter(
        "gas_price", GAS_PRICE, "Gas price in wei, or as 0.01gwei; 0 ignores gas.", "PRICE",
        field="gas_price_wei", is_limit=True, tools=_LIMITED, tool="Wei, or 0.01gwei; 0 ignores gas.",
        setting="Gas price in wei. Default: the market's.", example="10000000", unsent="a gas price",
    ),
    QuoteParameter(
        "certify", FLAG, "Prove a bound on how much better any route could be.", default=False, field="certify",
        tools=(_QUOTE,), tool="Prove a bound on how much better any route could be.",
        unsent="proofs that a route is the best",
    ),
    QuoteParameter(
        "proof", FLAG, "Also write the proof to a file (.gz: compressed).", "FILE", default=False,
        field="proof", query="proof", served=False,
        description="Whether to add the quote's figures, the bounds on the output of other routes, and the proof of"
        " these bounds (`ProofDocument`).",
    ),
    QuoteParameter(
        "solve_time_s", seconds(DAY_S, allow_zero=True), default=2.0, field="solve_time_s",
        setting="CPU seconds to search for a route, 0 for no limit. The best route found is used.",
    ),
    QuoteParameter(
        "slippage", PERCENTAGE, "Slippage tolerance: 0.5, 0.5% or 50bps.  [default: 0.5]", "PERCENT", ANSWER,
        DEFAULT_SLIPPAGE_PPM, tools=(_QUOTE, _BATCH, _BUILD, _CHECK), tool="Percent, such as 0.5; or 50bps. [0.5]",
        setting="How far below the quote the output may be, in percent.",
    ),
    QuoteParameter(
        "destination", ADDRESS, "Recipient of the output: address or ENS name.", "ADDRESS", ANSWER,
        is_keyword=False, tool="Recipient: address or ENS name.",
    ),
    QuoteParameter(
        "router_dialect", choice(_DIALECTS, is_further=is_dialect),
        f"{', '.join(_DIALECTS[:-1])} or {_DIALECTS[-1]}.  [default: {AUTO}]",
        "NAME", ANSWER, AUTO, is_keyword=False, tools=(_BUILD,),
        tool=f"{', '.join(DIALECTS)}. [{AUTO}]",
        setting="Router for payloads. auto: the network's router, else the most trusted one on live prices.",
    ),
    QuoteParameter(
        "api_version", choice(_API_VERSIONS, ApiVersion),
        "API version of the JSON.  [default: v2 if supported]", "v1|v2", ANSWER,
        setting="API version of the JSON, v1 or v2. Default: v2 if supported.", example="v2",
    ),
    QuoteParameter(
        "integrator_address", ADDRESS, "Wallet that receives the fee.", "ADDRESS", INTEGRATOR,
        is_keyword=False, key="integrator.address", setting="Wallet that receives the fee or surplus; needs a key.",
        example="0x" + "12" * 20,
    ),
    QuoteParameter(
        "integrator_fee_bps", whole_number(0, MAX_FEE_BPS), f"Fee on the output, in bps.  [0 to {MAX_FEE_BPS}]", "BPS",
        INTEGRATOR, 0, is_keyword=False, key="integrator.fee_bps",
        setting="Fee on the output in basis points. Excludes a surplus share.",
    ),
    QuoteParameter(
        "integrator_surplus_bps", whole_number(0, MAX_SURPLUS_BPS),
        f"Share of the surplus, in bps.  [0 to {MAX_SURPLUS_BPS}]", "BPS", INTEGRATOR, 0, is_keyword=False,
        key="integrator.surplus_bps", setting="Share of the surplus in basis points. Excludes a fee.",
    ),
)  # fmt: skip
"""All quote parameters, in the order of the help pages."""

PARAMETERS: Final = {each.name: each for each in QUOTE_PARAMETERS}
SENT: Final = tuple(each for each in QUOTE_PARAMETERS if each.query)
"""The parameters that the service's orders accept besides the published ones."""


def tool_arguments(tool: str) -> tuple[str, ...]:
    """Return the quote parameters that an agent tool accepts, starting with the parameters of every quote."""
    taken = [each for each in QUOTE_PARAMETERS if tool in each.tools]
    return tuple(each.name for each in sorted(taken, key=lambda each: not each.is_limit))
