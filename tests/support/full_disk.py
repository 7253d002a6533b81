"""A disk on which nothing can be written, for this process."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import contextmanager

_WRITABLE_BYTES = 4_096
"""Of each file: less than a block of a store, and enough for what tests print."""


@contextmanager
def full_disk() -> Iterator[None]:
    """Have the system fail all writes of this process behind the first bytes of a file; memory is not a file."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (_WRITABLE_BYTES, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
