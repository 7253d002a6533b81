"""The tests and generators of the program.

Neither this process nor its child processes may use public nodes, unless they bring their own.
"""

import os

os.environ.setdefault("SWAPCLI_LIVE", "never")
