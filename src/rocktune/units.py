"""Reads and writes quantities in the form that people use: `64MiB`, `1GiB`, `3m`, `1/64`.

KB, MB, GB and TB mean the same as KiB, MiB, GiB and TiB: powers of 1024, as in RocksDB.
"""

import math
import re

import numpy as np

from rocktune.errors import UserError

# The keys are the first letters of units, because KB and KiB mean the same.
_SIZE_FACTORS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_SECONDS_FACTORS = {"ms": 1e-3, "s": 1.0, "": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
MIB = 1 << 20
_MAX_BYTES = (1 << 62) - 1
"""The largest size that specs and the worker's 64-bit integers hold."""


def parse_bytes(text: str | int, what: str = "size") -> int:
    """Returns the number of bytes, at least 0, that a size stands for.

    Args:
        text: a whole number of bytes, or a number with a unit (`64MiB`, `1g`, `512 kb`).
        what: name of the quantity in the error message.

    Raises:
        UserError: `text` is not a size. Negative and hexadecimal numbers are not, nor those of 2^62 or more.
    """
    if isinstance(text, int):
        if text < 0:
            raise UserError(f"{what}: {text} is negative")
        return _held(text, text, what)
    # float() and int() alone would also accept 1e3, 0x10, 1_000, inf and nan.
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?", text.strip().lower())
    if match is None:
        raise UserError(
            f"{what}: '{text}' is not a size; write a number with an optional unit, such as 64MiB"
        )
    count = float(match[1]) * _SIZE_FACTORS[match[2]]
    return _held(text, count if math.isinf(count) else round(count), what)


def _held(text: str | int, count: float, what: str) -> int:
    """Returns a number of bytes; raises UserError if it is too large."""
    if count > _MAX_BYTES:
        raise UserError(f"{what}: {text} is too large; give less than {format_bytes(_MAX_BYTES + 1)}")
    return int(count)


def format_bytes(count: float) -> str:
    """Returns a size in bytes as text, in the largest unit that gives at least 1 (`64MiB`, `1.5GiB`)."""
    for unit, factor in (("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if abs(count) >= factor:
            return f"{count / factor:.4g}{unit}"
    return f"{count:.4g}B"


def parse_seconds(text: str | float, what: str = "duration", zero: bool = False) -> float:
    """Returns the seconds that a duration stands for (`90`, `90s`, `3m`, `1.5h`, `250ms`).

    Args:
        text: the duration; a number without a unit means seconds.
        what: name of the quantity in the error message.
        zero: whether 0 is accepted.

    Raises:
        UserError: `text` is not a duration, it is 0 and `zero` is false, or it is infinite.
    """
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(ms|s|m|min|h)?", str(text).strip().lower())
    seconds = float(match[1]) * _SECONDS_FACTORS[match[2] or ""] if match else 0.0
    if seconds <= 0 and not (zero and match):
        raise UserError(f"{what}: '{text}' is not a duration above 0; write seconds or 90s, 3m, 1h")
    if math.isinf(seconds):
        raise UserError(f"{what}: the duration is too long")
    return seconds


def format_seconds(seconds: float) -> str:
    """Returns a duration as text for people (`850 ms`, `42.0 s`, `3 min 20 s`, `1 h 5 min`)."""
    if seconds < 1:
        return f"{seconds * 1e3:.0f} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    # Rounded first, so that 119.7 s is 2 min 0 s and not 1 min 60 s.
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"


def parse_scale(text: str | int) -> int:
    """Returns S, the divisor of a scale written as `1/S`, or 1 for the scale `1`.

    S is a whole number from 1 to 512. At 512 the smallest write buffer of Dremel's space (32 MiB) becomes
    64 KiB, the smallest that RocksDB accepts.

    Raises:
        UserError: `text` is not `1` or `1/S` with S in this range.
    """
    match = re.fullmatch(r"(?:1\s*/\s*)?(\d{1,6})", str(text).strip())
    divisor = int(match[1]) if match else 0
    # A bare 64 could mean S or a factor, so it is refused; only 1 means the same either way.
    bare = match is not None and "/" not in str(text)
    if match is None or not 1 <= divisor <= 512 or (bare and divisor != 1):
        raise UserError(f"scale: '{text}' is not a scale; write 1 or 1/S with S from 2 to 512, such as 1/64")
    return divisor


def format_scale(divisor: int) -> str:
    """Returns the text of the scale with this divisor (`1`, `1/64`)."""
    return "1" if divisor == 1 else f"1/{divisor}"


def format_decimal(number: float) -> str:
    """Returns the shortest text of a number that reads as the same one, without an exponent."""
    return np.format_float_positional(number, trim="-")
