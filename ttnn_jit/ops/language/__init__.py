"""What operations are declared in: parameters and their kinds, how calls are bound, bodies of tiles."""
