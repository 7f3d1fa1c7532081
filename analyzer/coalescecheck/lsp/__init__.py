"""The language server: what the reports say, in an editor and about text that is not saved.

``cli`` is the command.  ``server`` speaks the protocol, ``session`` keeps the open documents and
has them analysed by a process of its own (``worker``, and ``serve`` inside it); ``diagnostics``,
``hover``, ``pictures`` and ``actions`` turn a result into what an editor shows.
"""
