"""The process that works: what it read, what it printed, how long it takes, what it may change, and its children."""
