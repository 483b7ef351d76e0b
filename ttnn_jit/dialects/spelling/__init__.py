"""How numbers, maps and names are spelled in texts."""
