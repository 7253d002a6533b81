"""What load can the service carry? Throughput, overload, abusive clients, several workers, feeds, and streams of
quotes."""
