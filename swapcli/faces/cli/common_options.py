"""The most common options. If a command has many options, `-h` shows only these, and `--help` shows all."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

MAX_OPTIONS: Final = 15
"""Maximum number of options that -h shows, so that its page has at most 40 lines of 80 columns."""

_STATE = "--rpc-url --block --offline"
_RESULT = "--json --get --output"

COMMON_OPTIONS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        command: tuple(options.split())
        for command, options in {
            "route": "--raw --reverse --max-hops --exclude-protocols --certify --slippage"
            f" {_STATE} --batch --watch --verbose {_RESULT}",
            "compare": f"--raw --max-hops --exclude-protocols --certify --api-url --aggregators {_STATE} {_RESULT}",
            "depth": f"--amounts --raw --max-hops --exclude-protocols {_STATE} --format {_RESULT}",
            "plan": "--over --parts --risk --start --band --next --done --slippage --destination"
            f" {_STATE} --save --json --output",
            "calldata": f"--raw --reverse --slippage --destination --from --simulate --with-approval --permit"
            f" --router-dialect {_STATE} --verbose --json --format",
            "execute": f"--destination --slippage --from --simulate --with-approval --permit --signature"
            f" --router-dialect {_STATE} --verbose --json --format",
            "decode": f"--network --to --value --from --destination --strict {_STATE} {_RESULT}",
            "sync": "--tokens --protocols --min-liquidity --accept-losses --watch --publish --rpc-url --store --json",
            "serve": "--host --port --workers --networks --all --keys-file --ready-file --max-requests --market --store"
            " --feed --max-age --live --offline --config",
            "health": f"--all {_STATE} --api-url --timeout --retries {_RESULT}",
            "pools": f"--limit --verbose {_STATE} --format {_RESULT}",
            "prove": "--folder --fresh --orders --recent --no-aggregators --time --max-requests --rpc-url --json",
            "backtest": "--blocks --every --results --resume --workers --raw --max-hops --rpc-url --no-cache"
            f" --format {_RESULT}",
            "price": f"--in {_STATE} --format {_RESULT}",
        }.items()
    }
)
"""The common options of each command that has more than `MAX_OPTIONS` options. Other commands show all options."""
