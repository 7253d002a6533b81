"""The Python library, exported lazily by the package; the command line is written on it.

A `Market` (`market`) quotes orders on one network; each quote is a `SwapQuote` (`swap_quote`), which builds its
transactions. `user_settings` reads the settings of the user.
"""
