"""The host side: what torch ops declare, and what their Python code does with its tensors."""
