"""What tuning does to a kernel's arguments: TML301, TML304 and the question of a second run."""
