"""NVIDIA's compiler as a witness: kernels that ``nvcc -G`` made PTX of are run lane by lane, and
the addresses they touch are compared with what the analysis says of the source.

Written without the package, but for ``comparison``.  ``text`` reads PTX, ``machine`` runs a block
of it with the ``operations`` on its ``memory``, ``requests`` gathers what each source line asks of
memory, and ``comparison`` holds it against the analysis.
"""
