"""How a call of the host API is bound, checked and carried out: of operations, and of host functions."""
