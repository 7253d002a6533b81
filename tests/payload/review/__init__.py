"""Each question about a payload that somebody gave, without a market."""
