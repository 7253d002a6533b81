"""`python -m tests.quoting.followers.publisher_process STORE URL NAME`: publish a store until killed."""

from __future__ import annotations

import sys
import time
from contextlib import suppress
from pathlib import Path

from swapcli.core.encoding.redis_url import RedisUrl
from swapcli.core.errors import UpstreamError
from swapcli.state.clock import SYSTEM_CLOCK
from swapcli.state.feed.feed_stream import FeedWriter
from swapcli.state.feed.publisher import FeedPublisher
from tests.quoting.followers.build import NETWORK
from tests.state.store.build import reopen

LEASE_S = 0.2


def main(path: str, url: str, name: str) -> None:
    """Publish every few milliseconds, with a short lease and many snapshots."""
    writer = FeedWriter(RedisUrl.parse(url), name, 0.5, lease_s=LEASE_S)
    with reopen(Path(path), NETWORK) as store:
        publisher = FeedPublisher(store, writer, SYSTEM_CLOCK, snapshot_interval_s=0.5)
        while True:
            with suppress(UpstreamError):
                publisher.publish()
            time.sleep(0.005)


if __name__ == "__main__":
    main(*sys.argv[1:])
