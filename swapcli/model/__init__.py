"""The words of the domain, as frozen data. Nothing here does I/O or knows a pool family by name."""
