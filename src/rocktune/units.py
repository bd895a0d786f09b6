"""Quantities as people write them: `64MiB`, `1GiB`, `3m`, `1/64`.

Sizes: KB, MB, GB, TB and KiB, MiB, GiB, TiB are the same here, powers of 1024, as RocksDB has them.
"""

import re

from rocktune.errors import UserError

_SIZE_FACTORS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_SECONDS_FACTORS = {"ms": 1e-3, "s": 1.0, "": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
MIB = 1 << 20


def parse_bytes(text: str | int, what: str = "size") -> int:
    """Reads a size in bytes.

    Args:
        text: a whole number of bytes, or a number with a unit (`64MiB`, `1g`, `512 kb`).
        what: how the error names the quantity.

    Returns:
        Bytes, at least 0.

    Raises:
        UserError: `text` is no size, negative or hexadecimal.
    """
    if isinstance(text, int):
        if text < 0:
            raise UserError(f"{what}: {text} is negative")
        return text
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?", text.strip().lower())
    if match is None:
        raise UserError(
            f"{what}: '{text}' is not a size; write a number with an optional unit, such as 64MiB"
        )
    return round(float(match[1]) * _SIZE_FACTORS[match[2]])


def format_bytes(count: float) -> str:
    """Writes a size in bytes with the largest unit that leaves at least 1 (`64MiB`, `1.5GiB`)."""
    for unit, factor in (("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if abs(count) >= factor:
            return f"{count / factor:.4g}{unit}"
    return f"{count:.4g}B"


def parse_seconds(text: str | float, what: str = "duration", zero: bool = False) -> float:
    """Reads a duration in seconds (`90`, `90s`, `3m`, `1.5h`, `250ms`); more than 0.

    Args:
        text: the duration.
        what: what it is of, for the error.
        zero: 0 is one too.

    Raises:
        UserError: `text` is no duration or not positive.
    """
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(ms|s|m|min|h)?", str(text).strip().lower())
    seconds = float(match[1]) * _SECONDS_FACTORS[match[2] or ""] if match else 0.0
    if seconds <= 0 and not (zero and match):
        raise UserError(f"{what}: '{text}' is not a duration above 0; write seconds or 90s, 3m, 1h")
    return seconds


def format_seconds(seconds: float) -> str:
    """Writes a duration for people (`850 ms`, `42.0 s`, `3 min 20 s`, `1 h 5 min`)."""
    if seconds < 1:
        return f"{seconds * 1e3:.0f} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"


def parse_scale(text: str | int) -> int:
    """Reads a scale `1/S` (or `1`) and returns S, the divisor, a whole number from 1 to 512.

    512 is where the smallest write buffer of Dremel's space (32 MiB) reaches RocksDB's floor of 64 KiB.

    Raises:
        UserError: `text` is not of that form or out of that range.
    """
    match = re.fullmatch(r"(?:1\s*/\s*)?(\d{1,6})", str(text).strip())
    divisor = int(match[1]) if match else 0
    bare = match is not None and "/" not in str(text)
    if match is None or not 1 <= divisor <= 512 or (bare and divisor != 1):
        raise UserError(f"scale: '{text}' is not one; write 1 or 1/S with S from 2 to 512, such as 1/64")
    return divisor


def format_scale(divisor: int) -> str:
    """Writes a scale's divisor as people read it (`1`, `1/64`)."""
    return "1" if divisor == 1 else f"1/{divisor}"
