"""Native code: loading, calls, sharing of kernels among threads, and traces."""
