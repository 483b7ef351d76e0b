"""What the user is told, and where in the user's files."""
