"""Rules that find one operation in the several that compute it."""
