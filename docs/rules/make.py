"""Writes the pages of this folder from the rules' docstrings: ``python docs/rules/make.py``."""

from __future__ import annotations

from pathlib import Path

from coalescecheck.rules import RULES

FOLDER = Path(__file__).parent


def pages() -> dict[str, str]:
    """The text of every page by its file name."""
    index = [
        "# Rules",
        "",
        "One page per rule; `coalescecheck --explain CC201` prints the same text. These pages are",
        "written by `docs/rules/make.py` from the rules' docstrings.",
        "",
        "| rule | severity | what it detects |",
        "|---|---|---|",
    ]
    result = {}
    for rule in RULES:
        name = f"{rule.code}-{rule.slug}.md"
        result[name] = rule.documentation()
        severity = f"{rule.severity}" if rule.enabled else f"{rule.severity}, when selected"
        index.append(f"| [{rule.code} {rule.slug}]({name}) | {severity} | {rule.summary()} |")
    return result | {"README.md": "\n".join(index) + "\n"}


def main() -> None:
    """Write all pages, and remove those of rules that are gone."""
    texts = pages()
    for old in FOLDER.glob("*.md"):
        if old.name not in texts:
            old.unlink()
    for name, text in texts.items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
