"""IR expressions to forms: the value of an expression for one generic thread."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from coalescecheck.ir import expr as ir
from coalescecheck.ir.types import ScalarType
from coalescecheck.symbolic import loaded
from coalescecheck.symbolic import operators as op
from coalescecheck.symbolic.builtins import Builtins, Geometry
from coalescecheck.symbolic.comparisons import compared
from coalescecheck.symbolic.fits import UNHARMED, Fits
from coalescecheck.symbolic.floats import Part, is_arithmetic, parts_of
from coalescecheck.symbolic.form import ZERO, Bounds, Context, Form, Symbol, number
from coalescecheck.symbolic.integers import Integers
from coalescecheck.symbolic.null_checks import checked_pointer
from coalescecheck.symbolic.wide import as_signed_64, exceeds_64, shifted_down, wraps_in_64

Environment = dict[str, Form]
TERM_LIMIT = 48  # a longer polynomial is a value nobody indexes with on purpose
FLOATING = "computed in floating point"
WRAPS = "a 64-bit unsigned value that wraps"
UNSET = "unset"  # the symbol of a variable before its first assignment


class Values:
    """Turns expressions into forms.

    ``params`` gives known integer parameters, ``pointers`` the arrays that parameters point to.
    A pointer is a form that contains a symbol of
    kind ``base``; a floating-point value is a ``data`` symbol that only keeps whether lanes
    differ.
    """

    def __init__(
        self,
        ctx: Context,
        geometry: Geometry,
        params: Mapping[str, int],
        pointers: Collection[str] = (),
    ) -> None:
        self.ctx = ctx
        self.params = params
        self.pointers = frozenset(pointers)
        self.fits = Fits(ctx)
        self._float = {
            flag: ctx.fresh(Symbol("float", "data", varying=flag, reason=FLOATING))
            for flag in (False, True)
        }
        self.builtins = Builtins(ctx, geometry)
        self._bases: dict[str, Form] = {}  # a form keeps what is found out about it
        self._parts: dict[int, tuple[ir.Expr, tuple[Part, ...]]] = {}  # by id of the expression
        self._float_generators = {g for form in self._float.values() for g in form.generators()}

    def floating(self, varying: bool) -> Form:
        """Some floating-point value."""
        return self._float[varying]

    # --- unknown values -----------------------------------------------------------------------

    def opaque(
        self,
        type_: ScalarType,
        varying: bool,
        reason: str,
        name: str = "data",
        bounds: Bounds | None = None,
    ) -> Form:
        """A value that only its type bounds, or ``bounds`` do."""
        if type_.kind in ("float", "unknown"):
            return self._float[varying]
        low, high = bounds or type_bounds(type_)
        return self.ctx.fresh(Symbol(name, "data", varying, low, high, reason=reason))

    def reason_of(self, *forms: Form) -> str:
        """Why one of the forms is not known: the reason of the first data symbol in it."""
        for form in forms:
            for _, symbol in self.ctx.symbols(form):
                if symbol.kind == "data" and symbol.reason:
                    return symbol.reason
        return ""

    def is_floating(self, form: Form) -> bool:
        """Whether the form is a floating-point value: nothing but its variation is known."""
        for monomial in form.terms:
            for g in monomial:
                if g in self._float_generators:
                    return True
        return False

    def is_unset(self, form: Form) -> bool:
        """Whether the form is a variable before its first assignment."""
        return any(s.name == UNSET for _, s in self.ctx.symbols(form)) and len(form.terms) == 1

    def limited(self, form: Form, type_: ScalarType) -> Form:
        """The form itself, or an opaque value when it has grown beyond use."""
        if len(form.terms) <= TERM_LIMIT:
            return form
        return self.opaque(type_, self.ctx.varying(form), "the expression is too large")

    # --- expressions --------------------------------------------------------------------------

    def value(self, expr: ir.Expr, env: Environment) -> Form:
        """The form of ``expr``."""
        return _VALUE[type(expr)](self, expr, env)

    def _const(self, const: ir.Const, env: Environment) -> Form:
        if isinstance(const.value, int) and const.type.kind != "float":
            beyond = const.value >= 1 << 63  # (size_t)-1: held modulo 2**64, as -1
            return number(const.value - (1 << 64) if beyond else const.value)
        return self._float[False]

    def _builtin(self, builtin: ir.Builtin, env: Environment) -> Form:
        return self.builtins.of(builtin.name)

    def _base(self, base: ir.ArrayBase, env: Environment) -> Form:
        known = self._bases.get(base.array)
        if known is None:
            known = self._bases[base.array] = self.ctx.symbol(Symbol(base.array, "base"))
        return known

    def _undefined(self, expr: ir.Undefined, env: Environment) -> Form:
        name = UNSET if expr.unset else "data"
        return self.opaque(expr.type, not expr.uniform, expr.reason, name)

    def _operation(self, expr: ir.Expr, env: Environment) -> Form:
        if expr.type.kind == "float" and is_arithmetic(expr):
            return self._float[self._differs(expr, env)]
        return _OPERATION[type(expr)](self, expr, env)

    def _differs(self, expr: ir.Expr, env: Environment) -> bool:
        """Whether a floating-point value differs between lanes."""
        known = self._parts.get(id(expr))
        if known is None:
            known = self._parts[id(expr)] = (expr, tuple(parts_of(expr)))
        differs = False
        for is_truth, part in known[1]:
            form = self.condition(part, env) if is_truth else self.value(part, env)
            differs = self.ctx.varying(form) or differs
        return differs

    def condition(self, expr: ir.Expr, env: Environment) -> Form:
        """The truth value (0 or 1) of ``expr``."""
        value = self.value(expr, env)
        if expr.type.kind == "float":
            return self.opaque_condition(self.ctx.varying(value), self.reason_of(value))
        return self._unless_wrapped(op.truth(self.ctx, value), expr.type, value)

    def opaque_condition(self, varying: bool, reason: str) -> Form:
        """A truth value that is not known."""
        return self.ctx.fresh(Symbol("condition", "data", varying, 0, 1, reason=reason))

    def _variable(self, var: ir.Var, env: Environment) -> Form:
        self.fits.read(var.name)
        known = env.get(var.name)
        if known is None:
            known = env[var.name] = self.opaque(
                var.type, True, f"`{var.name}` is read before it is set"
            )
        return known

    def _settled(self, form: Form, type_: ScalarType) -> Form:
        form = op.sum_of(self.ctx, form, type_)
        settled = op.settle(self.ctx, form, type_)
        if settled is form:
            self.fits.took(form, type_)
        return settled

    def _cast(self, expr: ir.Cast, env: Environment) -> Form:
        before = self.fits.before()
        value = self.value(expr.operand, env)
        source, target = expr.operand.type, expr.type
        if target.kind == "unknown":
            return self._float[self.ctx.varying(value)]
        if source.kind in ("float", "unknown"):
            if target.name == "bool":
                return self.opaque_condition(self.ctx.varying(value), FLOATING)
            return self.opaque(target, self.ctx.varying(value), FLOATING)
        if target.name == "bool":
            return self._unless_wrapped(op.truth(self.ctx, value), source, value)
        if "ptr" in (source.kind, target.kind) or self.has_base(value):
            return value  # an address keeps its meaning in any integer that is meant to hold one
        value = self._settled(value, source)
        if source.kind == "uint" and target.bits <= source.bits:
            value = loaded.as_signed(self.ctx, value, target)
        if target.kind == "int" and target.bits == 64 and exceeds_64(self.ctx, source, value):
            signed = as_signed_64(self.ctx, value)
            return self.opaque(target, self.ctx.varying(value), WRAPS) if signed is None else signed
        if target.kind == "int" and target.bits <= 32:
            self.fits.forget(before)
        elif target.bits > 32:
            self.fits.scales(value)
        return self._settled(op.cut(self.ctx, value, source, target), target)

    def has_base(self, form: Form) -> bool:
        """Whether the form is an address."""
        return not self.ctx.of_kind["base"].isdisjoint(self.ctx.leaves(form))

    def _unary(self, expr: ir.Unary, env: Environment) -> Form:
        if expr.op == "!":
            return op.negate(self.ctx, self.condition(expr.operand, env))
        value = self.value(expr.operand, env)
        return -value if expr.op == "-" else -value - op.ONE

    def _binary(self, expr: ir.Binary, env: Environment) -> Form:
        ctx = self.ctx
        if expr.op in ("&&", "||"):
            return self._logical(expr, env)
        left, right = self.value(expr.left, env), self.value(expr.right, env)
        operand = expr.left.type
        if "float" in (operand.kind, expr.right.type.kind) or operand.kind == "unknown":
            varying = ctx.varying(left) or ctx.varying(right)
            if expr.type.name == "bool":
                return self.opaque_condition(varying, self.reason_of(left, right))
            return self._float[varying]
        if expr.op in ("==", "!=", "<", "<=", ">", ">="):
            return self._comparison(expr.op, left, right, operand)
        return self.limited(self._integer(expr.op, left, right, operand), expr.type)

    def _logical(self, expr: ir.Binary, env: Environment) -> Form:
        combined, deciding = (op.both, ZERO) if expr.op == "&&" else (op.either, op.ONE)
        left = self.condition(expr.left, env)
        if left == deciding:
            return left
        before = self.fits.apart()
        right = self.condition(expr.right, env)
        self.fits.beside(before)
        return combined(self.ctx, left, right)

    def _comparison(self, operator: str, left: Form, right: Form, type_: ScalarType) -> Form:
        ctx = self.ctx
        left, right = self._settled(left, type_), self._settled(right, type_)
        self.fits.matters()
        if self.has_base(left) != self.has_base(right):
            address, other = (left, right) if self.has_base(left) else (right, left)
            if operator in ("==", "!=") and other == ZERO and type_.size == 8:
                there = self._points(address)
                return there if operator == "!=" else op.negate(ctx, there)
            return self._decided_by_places(left, right)
        if operator not in ("==", "!=") and self.has_base(left - right):
            return self._decided_by_places(left, right)
        holds = compared(ctx, operator, left, right, type_)
        return self._unless_wrapped(holds, type_, left, right)

    def _unless_wrapped(self, condition: Form, type_: ScalarType, *forms: Form) -> Form:
        """``condition`` on ``forms``, unless it may be otherwise for values that wrap.

        What is loaded may be anything.  Loop variables and sizes are taken to fit (``fits``), but
        no code is dead because of that: ``n + 1 == 0``, or ``i != -1ul`` at the end of a list, and
        none is alive because ``0u - n`` is below all there is.
        """
        ctx = self.ctx
        self.fits.became(condition)
        if not (condition.is_constant or ctx.varying(condition)):
            return condition  # not known anyway
        varying = any(map(ctx.varying, forms))
        if exceeds_64(ctx, type_, *forms):
            return self.opaque_condition(varying, self.reason_of(*forms))
        kinds: tuple[str, ...] = ("data",)
        if condition.is_constant:
            kinds += ("header",) if varying else ("header", "param")
        sinking = (*kinds, "param") if condition.is_constant else kinds
        wraps = (
            loaded.may_wrap(ctx, type_, form, sinking if ctx.bounds(form)[0] is None else kinds)
            for form in forms
        )
        if not any(wraps):
            return condition
        return self.opaque_condition(varying, self.reason_of(*forms))

    def _decided_by_places(self, left: Form, right: Form) -> Form:
        varying = self.ctx.varying(left) or self.ctx.varying(right)
        return self.opaque_condition(varying, "where an array lies decides")

    def _points(self, address: Form) -> Form:
        """Whether a pointer is not null."""
        checked = checked_pointer(self.ctx, address)
        self.fits.points(sorted(checked.bases & self.pointers))
        if checked.holds is not None:
            return checked.holds
        return self.opaque_condition(self.ctx.varying(address), checked.reason)

    def _integer(self, operator: str, left: Form, right: Form, type_: ScalarType) -> Form:
        ctx = self.ctx
        moved = operator in "+-" or (operator == "*" and not _is_power_of_2(left, right))
        if moved and type_.bits > 32 and not (self.has_base(left) or self.has_base(right)):
            self.fits.goes_on()
        match operator:
            case "+":
                return left + right
            case "-":
                return left - right
            case "*":
                return op.multiply(ctx, left, right, type_)
            case "<<":
                return op.shift_left(ctx, left, right, type_)
        left, right = self._settled(left, type_), self._settled(right, type_)
        if operator == ">>" and (kept := shifted_down(ctx, left, right, type_)) is not None:
            return kept
        if not _survives_a_wrap(operator, right):
            self.fits.matters()
        if operator not in "&|^" and wraps_in_64(ctx, type_, left, right):
            varying = ctx.varying(left) or ctx.varying(right)
            return self.opaque(type_, varying, WRAPS)
        return _SETTLED[operator](ctx, left, right)

    def _select(self, expr: ir.Select, env: Environment) -> Form:
        condition = self.condition(expr.condition, env)
        then, otherwise = self.value(expr.then, env), self.value(expr.otherwise, env)
        return self.limited(op.select(self.ctx, condition, then, otherwise), expr.type)

    def _call(self, expr: ir.Call, env: Environment) -> Form:
        args = [self.value(arg, env) for arg in expr.args]
        self.fits.matters()
        integers = Integers(self.ctx, self._integer, self._settled, self.fits.cut)
        called = integers.call(expr, args)
        if called is not None:
            return called
        varying = any(self.ctx.varying(arg) for arg in args)
        reason = self.reason_of(*args) or f"computed by {expr.function}()"
        return self.opaque(expr.type, varying, reason, bounds=integers.bounds(expr, args))


_OPERATION: dict[type, Callable[[Values, Any, Environment], Form]] = {
    ir.Binary: Values._binary,
    ir.Cast: Values._cast,
    ir.Unary: Values._unary,
    ir.Select: Values._select,
    ir.Call: Values._call,
}
_VALUE: dict[type, Callable[[Values, Any, Environment], Form]] = {
    ir.Var: Values._variable,
    ir.Const: Values._const,
    ir.Builtin: Values._builtin,
    ir.ArrayBase: Values._base,
    ir.Undefined: Values._undefined,
    **dict.fromkeys(_OPERATION, Values._operation),
}

_SETTLED = {
    "/": op.divide,
    "%": op.remainder,
    ">>": op.shift_right,
    "&": op.bit_and,
    "|": op.bit_or,
    "^": op.bit_xor,
    "min": op.minimum,
    "max": op.maximum,
}


def _is_power_of_2(*forms: Form) -> bool:
    """Whether one of the forms is a constant power of 2, such as the size of an element."""
    return any(f.is_constant and f.constant.bit_count() == 1 for f in forms)


def _survives_a_wrap(operator: str, right: Form) -> bool:
    """Whether an operation on a value modulo 2**32 gives the right lines all the same."""
    value = right.constant if right.is_constant else 0
    match operator:
        case "&" | "|" | "^":
            return True
        case ">>":
            return right.is_constant and value <= UNHARMED
        case "/" | "%":
            return value > 0 and value & (value - 1) == 0 and value <= 1 << UNHARMED
    return False


def type_bounds(type_: ScalarType) -> Bounds:
    """The bounds of an unknown value: those of a type narrower than ``int``, else only the sign."""
    if type_.name == "bool":
        return 0, 1
    if type_.is_integer and type_.size < 4:
        return type_range(type_)
    return 0 if type_.kind == "uint" else None, None


def type_range(type_: ScalarType) -> tuple[int, int]:
    if type_.kind == "uint":
        return 0, (1 << type_.bits) - 1
    return -(1 << (type_.bits - 1)), (1 << (type_.bits - 1)) - 1
