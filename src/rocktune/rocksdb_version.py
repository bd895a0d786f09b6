"""Versions of RocksDB, ordered by age."""

from dataclasses import dataclass

_MAX_DIGITS = 9


@dataclass(frozen=True, order=True)
class RocksDbVersion:
    """A version of RocksDB, or its first parts; ordered by age.

    Attributes:
        parts: major, minor and patch; at least the major one.
    """

    parts: tuple[int, ...]

    @classmethod
    def parse(cls, text: str) -> "RocksDbVersion | None":
        """Returns the version that a text such as "9.9.3" or "9.9" names; None if it names none."""
        parts = text.removeprefix("v").split(".")
        if len(parts) > 3 or not all(_is_number(part) for part in parts):
            return None
        return cls(tuple(int(part) for part in parts))

    @classmethod
    def of(cls, text: str) -> "RocksDbVersion":
        """Returns the version that a text names.

        Raises:
            ValueError: it names none.
        """
        version = cls.parse(text)
        if version is None:
            raise ValueError(f"{text!r} is no version of RocksDB")
        return version

    def __str__(self) -> str:
        return ".".join(map(str, self.parts))

    def includes(self, other: "RocksDbVersion") -> bool:
        """Returns whether another version begins with these parts."""
        return other.parts[: len(self.parts)] == self.parts


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS
