"""What runs kernels, in processes of its own."""
