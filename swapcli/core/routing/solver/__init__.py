PUBLIC = ("constants", "laplacian", "newton", "parallel_pools", "roots")
