"""The tests and generators of the program.

None of them may ask public nodes: neither this process nor one that it starts, unless it brings nodes of its own.
"""

import os

os.environ.setdefault("SWAPCLI_LIVE", "never")
