"""Random uses of per-thread arrays: known and unknown places, other types, two arrays at once."""

from __future__ import annotations

from .random_expressions import Expressions

ELEMENTS = 4


class PrivateArrays(Expressions):
    """Writes one statement at a time; arrays of four ``int`` are always filled when declared.

    Values are read as ``q[i] & 4095``, so that bytes poked into them overflow nothing.
    """

    lines: list[str]

    def private_statement(self, name: str, arrays: list[str]) -> str:
        """A statement on the per-thread array ``name``, one of those in scope."""
        rng = self.rng
        place = rng.choice([str(rng.randrange(ELEMENTS)), f"{self.expr(1)} & 3"])
        byte = rng.choice([str(rng.randrange(4 * ELEMENTS)), f"{self.expr(1)} & 15"])
        other = rng.choice(arrays)
        return rng.choice(
            [
                f"{name}[{place}] = {self.expr(1)};",
                f"{name}[{place}] += {self.expr(0)};",
                f"((unsigned char *){name})[{byte}] = (unsigned char){self.expr(1)};",
                f"((long long *){name})[{self.expr(0)} & 1] = {self.expr(1)};",
                f"({self.condition()} ? {name} : {other})[{place}] = {self.expr(0)};",
                f"o[{self.private_value(name)}] = 1.0f;",
                f"o[((unsigned char *){name})[{byte}]] = 1.0f;",
                f"o[({self.condition()} ? {name} : {other})[{place}] & 4095] = 1.0f;",
                f"s[({self.private_value(name)} + {self.expr(1)}) & 1023] = 1.0f;",
            ]
        )

    def private_value(self, name: str) -> str:
        """A small ``int`` that the array holds."""
        rng = self.rng
        place = str(rng.randrange(ELEMENTS)) if rng.random() < 0.8 else f"{self.atom()} & 3"
        return f"({name}[{place}] & 4095)"
