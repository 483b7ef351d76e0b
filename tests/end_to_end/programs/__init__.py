"""Programs as text, and their compilation."""
