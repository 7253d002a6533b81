"""The Python library, which `swapcli` exports lazily and the command line is written on.

A `Market` (`market`) quotes orders on one network; each quote is a `SwapQuote` (`swap_quote`), which builds its
transactions. `user_settings` reads the settings of the user.
"""
