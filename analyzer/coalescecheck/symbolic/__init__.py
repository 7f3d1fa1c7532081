"""Symbolic analysis: what holds for every launch, and exact counts for a known one."""

from coalescecheck.symbolic.summary import Summary, summarize

__all__ = ["Summary", "summarize"]
