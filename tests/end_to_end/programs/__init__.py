"""Programs as text, and how they are compiled."""
