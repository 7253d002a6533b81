PUBLIC = ("constants", "laplacian", "newton", "parallel_pools", "quasi_newton", "roots")
