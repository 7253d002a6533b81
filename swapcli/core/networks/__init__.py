"""Which networks there are, and what is known of them. Pure data and lookups; nothing here asks a node."""
