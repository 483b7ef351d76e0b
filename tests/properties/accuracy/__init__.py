"""How far results lie from exact ones."""
