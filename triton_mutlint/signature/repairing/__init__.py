"""Other guesses, where Triton refuses those that were made."""
