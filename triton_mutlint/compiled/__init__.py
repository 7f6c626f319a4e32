"""Kernels as Triton compiled them: the IR that its cache and traces of tritonparse keep, without Triton."""
