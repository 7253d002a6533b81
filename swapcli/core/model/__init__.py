"""Values of the domain, as frozen data: no I/O, and no pool family by name."""
