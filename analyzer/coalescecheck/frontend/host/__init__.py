"""Host code as far as launches need it: which constants reach a launch.

``scopes`` finds declarations, ``writes`` what changes a variable, ``values`` puts constants
together.  Whatever might differ at run time is None.
"""
