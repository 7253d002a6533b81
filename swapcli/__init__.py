"""The best swap route over liquidity pools, exact to the unit, and the transaction that executes it.

from swapcli import Market

    with Market.embedded("base") as market:
        quote = market.quote("ETH", "USDC", "1.5")
        print(quote.amount_out, quote.min_received)
        print(quote.transaction(destination="0x1111111111111111111111111111111111111111"))

`Market.live` quotes on the latest block of a node. Amounts as text or `Decimal` are whole tokens, integers are base
units. Importing the package loads nothing else: each name below is loaded when it is first used.
"""

TYPE_CHECKING = False  # importing it from `typing` would take milliseconds
if TYPE_CHECKING:
    from swapcli.core.errors import (
        AmbiguousToken,
        BlockMismatch,
        Cancelled,
        ChainReorganized,
        ConfigError,
        FeeOnTransfer,
        Forbidden,
        InputOutputError,
        InsufficientBalance,
        InsufficientLiquidity,
        IntegratorError,
        Interrupted,
        InvalidAddress,
        InvalidAmount,
        InvalidDeadline,
        InvalidInput,
        InvalidOption,
        InvalidPlan,
        InvalidPoolState,
        InvalidRoute,
        InvalidSlippage,
        InvalidUpstreamResponse,
        LiveUnavailable,
        MarketError,
        MarketUnavailable,
        ModelledState,
        NodesDisagree,
        NoProof,
        NoRoute,
        NotMined,
        OutsidePriceBand,
        Overloaded,
        PartNotDue,
        PlanEnded,
        PoolError,
        PriceImpactTooHigh,
        RateLimited,
        RequestBudgetSpent,
        RouteExpired,
        SameToken,
        SimulationError,
        SlippageExceeded,
        SlippageTooHigh,
        StaleError,
        StaleNode,
        SwapcliError,
        SwapDiffers,
        SwapReverts,
        TokenBlocked,
        Unauthorized,
        UncomputableSwap,
        UnhealthyError,
        UnknownFamily,
        UnknownNetwork,
        UnknownProtocol,
        UnknownToken,
        Unreachable,
        UnreadGainTooHigh,
        UnsafeRecipient,
        UnsafeSwap,
        UnusualFees,
        UpstreamError,
        UpstreamRejected,
        UpstreamTimeout,
        VerdictBlocks,
    )
    from swapcli.core.model.api_version import ApiVersion
    from swapcli.core.model.block_tag import BlockTag
    from swapcli.core.model.distribution import Distribution
    from swapcli.core.model.finding import Finding
    from swapcli.core.model.market import MarketState, Provenance
    from swapcli.core.model.network import Kind, Network
    from swapcli.core.model.order import Order
    from swapcli.core.model.pool import Pool, PoolIdentity, RateCurve, RoundingGain
    from swapcli.core.model.price_impact import PriceImpact
    from swapcli.core.model.quote import Certificate, NetBound, Quote, Route, Segment, Step, Swap
    from swapcli.core.model.quote_figures import QuoteFigures
    from swapcli.core.model.quote_request import QuoteRequest
    from swapcli.core.model.route_result import RouteResult
    from swapcli.core.model.router_choice import RouterChoice
    from swapcli.core.model.state_source import StateSource
    from swapcli.core.model.swap_terms import SwapTerms
    from swapcli.core.model.token import Token
    from swapcli.core.model.transaction import Deadline, UnsignedTransaction
    from swapcli.core.routing.router import Router
    from swapcli.core.version import __version__
    from swapcli.faces.service.key_file import ApiKey, CreatedKey, KeyList
    from swapcli.faces.service.key_plans import KeyPlan
    from swapcli.faces.service.key_usage import DayUsage, KeyUsage
    from swapcli.faces.service.keys import KeyStore
    from swapcli.faces.service.service_sources import ReadyService
    from swapcli.families import family
    from swapcli.interface.json_schemas import DocumentList, JsonSchema
    from swapcli.payload.review.reviewed_payload import PayloadReview, ReviewedTransaction
    from swapcli.quoting.account_holdings import Allowance, Holdings, TokenBalance
    from swapcli.quoting.alternatives import Alternative, AlternativeKind, Comparison, SimulationOutcome
    from swapcli.quoting.async_market import AsyncMarket, aquote
    from swapcli.quoting.backtest import Backtest, BacktestOrder, BacktestQuote, BacktestSummary, OrderSummary
    from swapcli.quoting.batch_line import BatchLine
    from swapcli.quoting.config.display import SettingList, SettingRow
    from swapcli.quoting.depth_result import Depth, DepthLevel, DepthPoint
    from swapcli.quoting.document_schemas import schema
    from swapcli.quoting.health import Health
    from swapcli.quoting.many_quotes import ManyQuote
    from swapcli.quoting.market import Market, quote
    from swapcli.quoting.network_check import CheckedFact, FactOutcome, NetworkCheck, check_network
    from swapcli.quoting.network_details import NetworkDefinition, NetworkDetails, network_definition, network_details
    from swapcli.quoting.network_editing import AddedNetwork, RemovedNetwork, add_network, remove_network
    from swapcli.quoting.network_health import HealthReport, health
    from swapcli.quoting.network_list import ListedNetwork, NetworkList, NodeReports, networks, probe_nodes
    from swapcli.quoting.planning.due_part import BuiltPart, PlanProgress, mark_part_done
    from swapcli.quoting.planning.plan import Plan, PriceBand
    from swapcli.quoting.planning.plan_file import PlannedPart
    from swapcli.quoting.planning.plan_terms import PlanTerms
    from swapcli.quoting.planning.recorded_payload import RecordedPayload
    from swapcli.quoting.planning.route_limits import PlanRouteLimits
    from swapcli.quoting.pool_listing import ListedPool, PoolList
    from swapcli.quoting.prepared_payload import PreparedRoute
    from swapcli.quoting.proof import Proof
    from swapcli.quoting.proof_checker import CheckedBound, ProofCheck, check_proof
    from swapcli.quoting.protocol_list import ListedProtocol, ProtocolList, protocols
    from swapcli.quoting.proving.proof_item import ProofItem, ProofOutcome, ProofStage
    from swapcli.quoting.proving.prove import prove
    from swapcli.quoting.proving.prove_report import ProveReport
    from swapcli.quoting.public_venues import PublicVenue, VenueList, public_venues
    from swapcli.quoting.quote_change import FailedRefresh, QuoteChange, WatchedQuote
    from swapcli.quoting.quote_results import LocalQuote, RemoteQuote
    from swapcli.quoting.review.decode import decode
    from swapcli.quoting.review.decoded_payload import DecodedPayload
    from swapcli.quoting.router_deployment import DeploymentPayload, router_deployment
    from swapcli.quoting.slippage_measures import SlippageAdvice
    from swapcli.quoting.stores import (
        ExportedMarket,
        RemovedStore,
        StoreInfo,
        StoreList,
        export_market,
        import_market,
        remove_store,
        store_info,
        stores,
    )
    from swapcli.quoting.swap_check import SwapCheck
    from swapcli.quoting.swap_quote import PreparedSwap, SwapQuote
    from swapcli.quoting.syncing.open_sync import sync
    from swapcli.quoting.syncing.results import ChainStep, SyncResult
    from swapcli.quoting.token_list import ListedToken, TokenList, tokens
    from swapcli.quoting.token_prices import PriceList, TokenPrice
    from swapcli.quoting.user_settings import setting, settings
    from swapcli.quoting.verification.hindsight import Hindsight, HindsightSummary, SwapHindsight
    from swapcli.quoting.verification.recent_verification import (
        RecentSwap,
        RecentVenue,
        RecentVerification,
        VenueStatus,
    )
    from swapcli.quoting.verification.recording import RecordedPool, Recording, SkippedSwap
    from swapcli.quoting.verification.transaction_verification import Verification
    from swapcli.state.mined.swap_verification import VerifiedSwap
    from swapcli.state.rpc.node_checks import NodeReport

_MODULES = {
    "AddedNetwork": "swapcli.quoting.network_editing",
    "Allowance": "swapcli.quoting.account_holdings",
    "Alternative": "swapcli.quoting.alternatives",
    "AlternativeKind": "swapcli.quoting.alternatives",
    "ApiKey": "swapcli.faces.service.key_file",
    "ApiVersion": "swapcli.core.model.api_version",
    "AsyncMarket": "swapcli.quoting.async_market",
    "Backtest": "swapcli.quoting.backtest",
    "BacktestOrder": "swapcli.quoting.backtest",
    "BacktestQuote": "swapcli.quoting.backtest",
    "BacktestSummary": "swapcli.quoting.backtest",
    "BatchLine": "swapcli.quoting.batch_line",
    "BlockTag": "swapcli.core.model.block_tag",
    "Certificate": "swapcli.core.model.quote",
    "ChainStep": "swapcli.quoting.syncing.results",
    "CheckedBound": "swapcli.quoting.proof_checker",
    "CheckedFact": "swapcli.quoting.network_check",
    "Comparison": "swapcli.quoting.alternatives",
    "CreatedKey": "swapcli.faces.service.key_file",
    "DayUsage": "swapcli.faces.service.key_usage",
    "Deadline": "swapcli.core.model.transaction",
    "DecodedPayload": "swapcli.quoting.review.decoded_payload",
    "DeploymentPayload": "swapcli.quoting.router_deployment",
    "Depth": "swapcli.quoting.depth_result",
    "DepthLevel": "swapcli.quoting.depth_result",
    "DepthPoint": "swapcli.quoting.depth_result",
    "Distribution": "swapcli.core.model.distribution",
    "DocumentList": "swapcli.interface.json_schemas",
    "ExportedMarket": "swapcli.quoting.stores",
    "FactOutcome": "swapcli.quoting.network_check",
    "FailedRefresh": "swapcli.quoting.quote_change",
    "Finding": "swapcli.core.model.finding",
    "Health": "swapcli.quoting.health",
    "HealthReport": "swapcli.quoting.network_health",
    "Hindsight": "swapcli.quoting.verification.hindsight",
    "HindsightSummary": "swapcli.quoting.verification.hindsight",
    "Holdings": "swapcli.quoting.account_holdings",
    "JsonSchema": "swapcli.interface.json_schemas",
    "KeyList": "swapcli.faces.service.key_file",
    "KeyPlan": "swapcli.faces.service.key_plans",
    "KeyStore": "swapcli.faces.service.keys",
    "KeyUsage": "swapcli.faces.service.key_usage",
    "Kind": "swapcli.core.model.network",
    "ListedNetwork": "swapcli.quoting.network_list",
    "ListedPool": "swapcli.quoting.pool_listing",
    "ListedProtocol": "swapcli.quoting.protocol_list",
    "ListedToken": "swapcli.quoting.token_list",
    "LocalQuote": "swapcli.quoting.quote_results",
    "ManyQuote": "swapcli.quoting.many_quotes",
    "Market": "swapcli.quoting.market",
    "MarketState": "swapcli.core.model.market",
    "NetBound": "swapcli.core.model.quote",
    "Network": "swapcli.core.model.network",
    "NetworkCheck": "swapcli.quoting.network_check",
    "NetworkDefinition": "swapcli.quoting.network_details",
    "NetworkDetails": "swapcli.quoting.network_details",
    "NetworkList": "swapcli.quoting.network_list",
    "NodeReport": "swapcli.state.rpc.node_checks",
    "NodeReports": "swapcli.quoting.network_list",
    "Order": "swapcli.core.model.order",
    "OrderSummary": "swapcli.quoting.backtest",
    "PayloadReview": "swapcli.payload.review.reviewed_payload",
    "Pool": "swapcli.core.model.pool",
    "PoolIdentity": "swapcli.core.model.pool",
    "PoolList": "swapcli.quoting.pool_listing",
    "PreparedRoute": "swapcli.quoting.prepared_payload",
    "PreparedSwap": "swapcli.quoting.swap_quote",
    "PriceImpact": "swapcli.core.model.price_impact",
    "PriceList": "swapcli.quoting.token_prices",
    "Proof": "swapcli.quoting.proof",
    "ProofCheck": "swapcli.quoting.proof_checker",
    "ProofItem": "swapcli.quoting.proving.proof_item",
    "ProofOutcome": "swapcli.quoting.proving.proof_item",
    "ProofStage": "swapcli.quoting.proving.proof_item",
    "ProtocolList": "swapcli.quoting.protocol_list",
    "ProveReport": "swapcli.quoting.proving.prove_report",
    "Provenance": "swapcli.core.model.market",
    "PublicVenue": "swapcli.quoting.public_venues",
    "Quote": "swapcli.core.model.quote",
    "QuoteChange": "swapcli.quoting.quote_change",
    "QuoteFigures": "swapcli.core.model.quote_figures",
    "QuoteRequest": "swapcli.core.model.quote_request",
    "RateCurve": "swapcli.core.model.pool",
    "ReadyService": "swapcli.faces.service.service_sources",
    "RecentSwap": "swapcli.quoting.verification.recent_verification",
    "RecentVenue": "swapcli.quoting.verification.recent_verification",
    "RecentVerification": "swapcli.quoting.verification.recent_verification",
    "RecordedPool": "swapcli.quoting.verification.recording",
    "Recording": "swapcli.quoting.verification.recording",
    "RemoteQuote": "swapcli.quoting.quote_results",
    "RemovedNetwork": "swapcli.quoting.network_editing",
    "RemovedStore": "swapcli.quoting.stores",
    "ReviewedTransaction": "swapcli.payload.review.reviewed_payload",
    "RoundingGain": "swapcli.core.model.pool",
    "Route": "swapcli.core.model.quote",
    "RouteResult": "swapcli.core.model.route_result",
    "Router": "swapcli.core.routing.router",
    "RouterChoice": "swapcli.core.model.router_choice",
    "Segment": "swapcli.core.model.quote",
    "SettingList": "swapcli.quoting.config.display",
    "SettingRow": "swapcli.quoting.config.display",
    "SimulationOutcome": "swapcli.quoting.alternatives",
    "SkippedSwap": "swapcli.quoting.verification.recording",
    "SlippageAdvice": "swapcli.quoting.slippage_measures",
    "StateSource": "swapcli.core.model.state_source",
    "Step": "swapcli.core.model.quote",
    "StoreInfo": "swapcli.quoting.stores",
    "StoreList": "swapcli.quoting.stores",
    "Swap": "swapcli.core.model.quote",
    "SwapCheck": "swapcli.quoting.swap_check",
    "SwapHindsight": "swapcli.quoting.verification.hindsight",
    "SwapQuote": "swapcli.quoting.swap_quote",
    "SwapTerms": "swapcli.core.model.swap_terms",
    "SyncResult": "swapcli.quoting.syncing.results",
    "Token": "swapcli.core.model.token",
    "TokenBalance": "swapcli.quoting.account_holdings",
    "TokenList": "swapcli.quoting.token_list",
    "TokenPrice": "swapcli.quoting.token_prices",
    "UnsignedTransaction": "swapcli.core.model.transaction",
    "VenueList": "swapcli.quoting.public_venues",
    "VenueStatus": "swapcli.quoting.verification.recent_verification",
    "Verification": "swapcli.quoting.verification.transaction_verification",
    "VerifiedSwap": "swapcli.state.mined.swap_verification",
    "WatchedQuote": "swapcli.quoting.quote_change",
    "__version__": "swapcli.core.version",
    "add_network": "swapcli.quoting.network_editing",
    "aquote": "swapcli.quoting.async_market",
    "check_network": "swapcli.quoting.network_check",
    "check_proof": "swapcli.quoting.proof_checker",
    "decode": "swapcli.quoting.review.decode",
    "export_market": "swapcli.quoting.stores",
    "family": "swapcli.families",
    "health": "swapcli.quoting.network_health",
    "import_market": "swapcli.quoting.stores",
    "network_definition": "swapcli.quoting.network_details",
    "network_details": "swapcli.quoting.network_details",
    "networks": "swapcli.quoting.network_list",
    "probe_nodes": "swapcli.quoting.network_list",
    "protocols": "swapcli.quoting.protocol_list",
    "prove": "swapcli.quoting.proving.prove",
    "public_venues": "swapcli.quoting.public_venues",
    "quote": "swapcli.quoting.market",
    "remove_network": "swapcli.quoting.network_editing",
    "remove_store": "swapcli.quoting.stores",
    "router_deployment": "swapcli.quoting.router_deployment",
    "schema": "swapcli.quoting.document_schemas",
    "setting": "swapcli.quoting.user_settings",
    "settings": "swapcli.quoting.user_settings",
    "store_info": "swapcli.quoting.stores",
    "stores": "swapcli.quoting.stores",
    "sync": "swapcli.quoting.syncing.open_sync",
    "tokens": "swapcli.quoting.token_list",
    "BuiltPart": "swapcli.quoting.planning.due_part",
    "PlanProgress": "swapcli.quoting.planning.due_part",
    "mark_part_done": "swapcli.quoting.planning.due_part",
    "Plan": "swapcli.quoting.planning.plan",
    "PriceBand": "swapcli.quoting.planning.plan",
    "PlannedPart": "swapcli.quoting.planning.plan_file",
    "PlanTerms": "swapcli.quoting.planning.plan_terms",
    "PlanRouteLimits": "swapcli.quoting.planning.route_limits",
    "RecordedPayload": "swapcli.quoting.planning.recorded_payload",
}
"""The module of each name, except the errors."""

__all__ = [
    "AddedNetwork",
    "Allowance",
    "Alternative",
    "AlternativeKind",
    "AmbiguousToken",
    "ApiKey",
    "ApiVersion",
    "AsyncMarket",
    "Backtest",
    "BacktestOrder",
    "BacktestQuote",
    "BacktestSummary",
    "BatchLine",
    "BlockMismatch",
    "BlockTag",
    "BuiltPart",
    "Cancelled",
    "Certificate",
    "ChainReorganized",
    "ChainStep",
    "CheckedBound",
    "CheckedFact",
    "Comparison",
    "ConfigError",
    "CreatedKey",
    "DayUsage",
    "Deadline",
    "DecodedPayload",
    "DeploymentPayload",
    "Depth",
    "DepthLevel",
    "DepthPoint",
    "Distribution",
    "DocumentList",
    "ExportedMarket",
    "FactOutcome",
    "FailedRefresh",
    "FeeOnTransfer",
    "Finding",
    "Forbidden",
    "Health",
    "HealthReport",
    "Hindsight",
    "HindsightSummary",
    "Holdings",
    "InputOutputError",
    "InsufficientBalance",
    "InsufficientLiquidity",
    "IntegratorError",
    "Interrupted",
    "InvalidAddress",
    "InvalidAmount",
    "InvalidDeadline",
    "InvalidInput",
    "InvalidOption",
    "InvalidPlan",
    "InvalidPoolState",
    "InvalidRoute",
    "InvalidSlippage",
    "InvalidUpstreamResponse",
    "JsonSchema",
    "KeyList",
    "KeyPlan",
    "KeyStore",
    "KeyUsage",
    "Kind",
    "ListedNetwork",
    "ListedPool",
    "ListedProtocol",
    "ListedToken",
    "LiveUnavailable",
    "LocalQuote",
    "ManyQuote",
    "Market",
    "MarketError",
    "MarketState",
    "MarketUnavailable",
    "ModelledState",
    "NetBound",
    "Network",
    "NetworkCheck",
    "NetworkDefinition",
    "NetworkDetails",
    "NetworkList",
    "NoProof",
    "NoRoute",
    "NodeReport",
    "NodeReports",
    "NodesDisagree",
    "NotMined",
    "Order",
    "OrderSummary",
    "OutsidePriceBand",
    "Overloaded",
    "PartNotDue",
    "PayloadReview",
    "Plan",
    "PlanEnded",
    "PlanProgress",
    "PlanRouteLimits",
    "PlanTerms",
    "PlannedPart",
    "Pool",
    "PoolError",
    "PoolIdentity",
    "PoolList",
    "PreparedRoute",
    "PreparedSwap",
    "PriceBand",
    "PriceImpact",
    "PriceImpactTooHigh",
    "PriceList",
    "Proof",
    "ProofCheck",
    "ProofItem",
    "ProofOutcome",
    "ProofStage",
    "ProtocolList",
    "ProveReport",
    "Provenance",
    "PublicVenue",
    "Quote",
    "QuoteChange",
    "QuoteFigures",
    "QuoteRequest",
    "RateCurve",
    "RateLimited",
    "ReadyService",
    "RecentSwap",
    "RecentVenue",
    "RecentVerification",
    "RecordedPayload",
    "RecordedPool",
    "Recording",
    "RemoteQuote",
    "RemovedNetwork",
    "RemovedStore",
    "RequestBudgetSpent",
    "ReviewedTransaction",
    "RoundingGain",
    "Route",
    "RouteExpired",
    "RouteResult",
    "Router",
    "RouterChoice",
    "SameToken",
    "Segment",
    "SettingList",
    "SettingRow",
    "SimulationError",
    "SimulationOutcome",
    "SkippedSwap",
    "SlippageAdvice",
    "SlippageExceeded",
    "SlippageTooHigh",
    "StaleError",
    "StaleNode",
    "StateSource",
    "Step",
    "StoreInfo",
    "StoreList",
    "Swap",
    "SwapCheck",
    "SwapDiffers",
    "SwapHindsight",
    "SwapQuote",
    "SwapReverts",
    "SwapTerms",
    "SwapcliError",
    "SyncResult",
    "Token",
    "TokenBalance",
    "TokenBlocked",
    "TokenList",
    "TokenPrice",
    "Unauthorized",
    "UncomputableSwap",
    "UnhealthyError",
    "UnknownFamily",
    "UnknownNetwork",
    "UnknownProtocol",
    "UnknownToken",
    "Unreachable",
    "UnreadGainTooHigh",
    "UnsafeRecipient",
    "UnsafeSwap",
    "UnsignedTransaction",
    "UnusualFees",
    "UpstreamError",
    "UpstreamRejected",
    "UpstreamTimeout",
    "VenueList",
    "VenueStatus",
    "VerdictBlocks",
    "Verification",
    "VerifiedSwap",
    "WatchedQuote",
    "__version__",
    "add_network",
    "aquote",
    "check_network",
    "check_proof",
    "decode",
    "export_market",
    "family",
    "health",
    "import_market",
    "mark_part_done",
    "network_definition",
    "network_details",
    "networks",
    "probe_nodes",
    "protocols",
    "prove",
    "public_venues",
    "quote",
    "remove_network",
    "remove_store",
    "router_deployment",
    "schema",
    "setting",
    "settings",
    "store_info",
    "stores",
    "sync",
    "tokens",
]


def __dir__() -> list[str]:
    return sorted(__all__)


if not TYPE_CHECKING:  # type checkers would take it for a promise that every name exists

    def __getattr__(name: str) -> object:
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        # Not `importlib`, which loads `warnings` as well.
        return getattr(__import__(_MODULES.get(name, "swapcli.core.errors"), fromlist=(name,)), name)
