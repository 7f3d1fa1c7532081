"""CoalesceCheck: sectors and wavefronts of CUDA memory accesses, without a GPU."""

__version__ = "0.1.0"
