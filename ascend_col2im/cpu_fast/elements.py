"""Elements in memory, for compiled code: read as what they are summed in, written rounded once."""

# mypy: disallow-subclassing-any=False, disallow-untyped-decorators=False

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, models, register_model


class Narrow(types.Type):
    """An element that is summed in another type.

    Attributes
    ----------
    bits : its width in memory
    total : the type of its sums
    """

    def __init__(self, name: str, bits: int, total: Any) -> None:
        super().__init__(name=f"Narrow({name})")
        self.kind = name
        self.bits = bits
        self.total = total


@register_model(Narrow)
class _NarrowModel(models.PrimitiveModel):
    def __init__(self, manager: Any, element: Narrow) -> None:
        super().__init__(manager, element, ir.IntType(element.bits))


FLOAT16 = Narrow("float16", 16, types.float32)
BFLOAT16 = Narrow("bfloat16", 16, types.float32)


def total_of(element: Any) -> Any:
    """Return the type in which sums of an element are kept."""
    return element.total if isinstance(element, Narrow) else element


@intrinsic
def read(typing: Any, pointer: Any, index: Any) -> Any:
    """Return ``pointer[index]``, widened to the type of its sums."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        value = builder.load(builder.gep(args[0], [args[1]]))
        if pointer.dtype == FLOAT16:
            return builder.fpext(builder.bitcast(value, ir.HalfType()), ir.FloatType())
        if pointer.dtype == BFLOAT16:
            bits = builder.zext(value, ir.IntType(32))
            return builder.bitcast(builder.shl(bits, bits.type(16)), ir.FloatType())
        return value

    return total_of(pointer.dtype)(pointer, types.int64), generate


@intrinsic
def write(typing: Any, pointer: Any, index: Any, value: Any) -> Any:
    """Set ``pointer[index]`` to a sum, rounded to nearest even."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        value = args[2]
        if pointer.dtype == FLOAT16:
            value = builder.bitcast(builder.fptrunc(value, ir.HalfType()), ir.IntType(16))
        elif pointer.dtype == BFLOAT16:
            value = _rounded_to_bfloat16(builder, value)
        builder.store(value, builder.gep(args[0], [args[1]]))
        return context.get_dummy_value()

    return types.void(pointer, types.int64, total_of(pointer.dtype)), generate


def _rounded_to_bfloat16(builder: Any, value: Any) -> Any:
    """Generate what ml_dtypes does: ties to even, one NaN per sign."""
    bits = builder.bitcast(value, ir.IntType(32))
    high = builder.lshr(bits, bits.type(16))
    odd = builder.and_(high, bits.type(1))
    rounded = builder.add(builder.add(bits, bits.type(0x7FFF)), odd)
    nan = builder.or_(builder.and_(high, bits.type(0x8000)), bits.type(0x7FC0))
    is_nan = builder.fcmp_unordered("uno", value, value)
    upper = builder.select(is_nan, nan, builder.lshr(rounded, bits.type(16)))
    return builder.trunc(upper, ir.IntType(16))


@intrinsic
def value_or_zero(typing: Any, condition: Any, value: Any) -> Any:
    """Return a value where the condition holds, +0 elsewhere, without a branch."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.select(args[0], args[1], ir.Constant(args[1].type, None))

    return value(types.boolean, value), generate
