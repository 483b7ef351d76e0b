"""The spelling of numbers, maps and names in texts."""
