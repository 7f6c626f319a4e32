"""What the code declares about its kernels: specs, comments and suppressions."""
