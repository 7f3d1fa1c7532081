"""The one intermediate representation: a kernel as structured, side-effect-free pieces.

``types`` are the scalar types, ``expr`` the pure expressions, ``kernel`` the statements,
accesses, arrays and the kernel itself; ``dump`` prints all of it as stable text.
"""
