"""One module per family of pool maths, behind `swapcli.model.pool.Pool`."""
