"""Find and sample pools that their protocol quotes by itself."""

PUBLIC = ("sampled", "sampled_discovery", "sampled_pools")
