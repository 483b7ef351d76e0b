"""The passes to TTNN and over it, one per file, named as those in `passes`."""
