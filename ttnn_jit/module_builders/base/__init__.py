"""What all builders share."""
