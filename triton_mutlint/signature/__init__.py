"""Plans: the arguments that a kernel is lowered with, given, found in its file or guessed."""
