"""What a program does, as data: launches, their bounds and costs, and the format in which programs are kept."""
