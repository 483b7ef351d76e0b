"""The families of operations: elementwise operations, movements, reductions, contractions, routines, decompositions."""
