"""The families of operations: what all elementwise operations, all movements, all products have in common."""
