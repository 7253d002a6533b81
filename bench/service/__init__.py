"""What does the service bear? Throughput, overload, abusive clients, several workers, feeds, and streams of quotes."""
