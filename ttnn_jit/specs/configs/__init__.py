"""How a chip splits and computes operations, as programs configure it."""
