"""What a compile may believe of the user's world, and how a later call sees that it is still so."""
