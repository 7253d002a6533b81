"""A chain with a proxy before its node, and a store that is synced from it."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import Timer
from typing import Any

from tests.chain.proxy import Proxy
from tests.chain.settings import write_settings
from tests.chain.small_chain import SmallTestChain
from tests.state.store.build import is_sound
from tests.support.command import CommandResult, clean_environment, run_swapcli
from tests.support.service_process import SWAPCLI_COMMAND, TIMEOUT_S


class Scene:
    """A small test chain, with settings that name a proxy in front of its node."""

    def __init__(self, small_chain: SmallTestChain, proxy: Proxy, folder: Path) -> None:
        self.small_chain, self.proxy, self.folder = small_chain, proxy, folder
        self.network = small_chain.network._replace(block_time_s=1.0)
        self.settings = write_settings(folder, self.network, proxy.url, timeout_s=2.0)
        self.file = folder / "stores" / "anvil.sqlite"

    @property
    def env(self) -> dict[str, str]:
        return {"SWAPCLI_CONFIG": str(self.settings)}

    def sync(self, *arguments: str, **more: Any) -> CommandResult:
        """Run `swapcli sync anvil ...` in this process."""
        return run_swapcli("sync", "anvil", *arguments, env=self.env, **more)

    def stored_market(self, folder: Path | None = None) -> dict[str, Any]:
        """Return the exported market of the store."""
        where = ("--store", str(folder)) if folder else ()
        return dict(run_swapcli("market", "export", "anvil", *where, env=self.env).json)

    def synced_afresh(self) -> dict[str, Any]:
        """Return the market of a sync into a new store."""
        folder = self.folder / f"fresh-{len(list(self.folder.iterdir()))}"
        assert self.sync("--store", str(folder)).exit_code == 0
        return self.stored_market(folder)

    def check_fresh(self) -> None:
        """Fail unless the store is sound and equal to a newly synced one."""
        stored, fresh = self.stored_market(), self.synced_afresh()
        assert is_sound(self.file)
        assert (stored["block"], by_address(stored)) == (fresh["block"], by_address(fresh))

    @contextmanager
    def running(self, *arguments: str, **more: Any) -> Iterator[subprocess.Popen[str]]:
        """Run `swapcli sync anvil ...` in its own process, which ends with the context."""
        with started("sync", "anvil", *arguments, env=self.env, **more) as process:
            yield process


@contextmanager
def started(*arguments: str, env: Mapping[str, str], **more: Any) -> Iterator[subprocess.Popen[str]]:
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | more
    process = subprocess.Popen([*SWAPCLI_COMMAND, *arguments], text=True, env=clean_environment(env), **pipes)
    # Ends a test that reads a line that the process never writes.
    watchdog = Timer(2 * TIMEOUT_S, process.kill)
    watchdog.start()
    try:
        yield process
    finally:
        watchdog.cancel()
        if process.poll() is None:
            process.kill()
        process.communicate(timeout=TIMEOUT_S)


def by_address(market: dict[str, Any]) -> dict[str, Any]:
    return {pool.get("pool_id") or pool["address"]: pool for pool in market["pools"]}
