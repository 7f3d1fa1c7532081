"""HTML and SVG elements as text in which nothing of a user's file can become markup.

In: names, attributes and children.  Out: ``Markup``.  A plain ``str`` is escaped whatever it
holds; only what this module built is taken as it is.
"""

from __future__ import annotations

from html import escape

from coalescecheck.report.plain import plain

VOID = frozenset({"meta", "br", "hr"})


class Markup(str):
    """Text that is markup already."""

    __slots__ = ()


def tag(name: str, /, *children: str | None, **attributes: str | float | bool | None) -> Markup:
    """An element.  ``class_`` is ``class``, ``data_value`` is ``data-value``; an attribute that
    is True stands alone, one that is None or False is left out, and so is a child that is None."""
    shown = "".join(_attribute(key, value) for key, value in attributes.items())
    if name in VOID:
        return Markup(f"<{name}{shown}>")
    return Markup(f"<{name}{shown}>{join(*children)}</{name}>")


def join(*children: str | None) -> Markup:
    """The children one after the other."""
    return Markup("".join(_safe(child) for child in children if child is not None))


def _attribute(key: str, value: str | float | bool | None) -> str:
    if value is None or value is False:
        return ""
    name = key.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{_safe(_number(value))}"'


def _number(value: str | float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


def _safe(text: str) -> str:
    if isinstance(text, Markup):
        return text
    return escape(plain(text).encode("utf-8", "replace").decode("utf-8"), quote=True)
