"""What a store owes for compactions by age: `periodic_compaction_seconds` and `ttl`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from rocktune.lsm import Amplification, TreeData, periodic_bytes_per_s, ttl_bytes_per_s
from rocktune.space.catalogue_files import LEFT_TO_RELEASE

_RELEASE_TTL_S = 30 * 86400
"""The `ttl` of tables that RocksDB 7.8 to 11 choose."""


@dataclass(frozen=True)
class Ages:
    """The ages at which the tables of a column family are compacted, in seconds; 0 for none.

    Attributes:
        style: the compaction style.
        periodic_s: age at which any table is rewritten.
        ttl_s: age at which a table goes down to the next level; always 0 under universal compaction.
    """

    style: Literal["leveled", "universal"]
    periodic_s: float
    ttl_s: float

    @classmethod
    def of(cls, style: Literal["leveled", "universal"], cf: Mapping[str, str]) -> "Ages":
        """Returns the ages that a family's options set; absent options set none."""
        ttl_s, periodic_s = (
            left if cf.get(name) == LEFT_TO_RELEASE else int(cf.get(name, "0"))
            for name, left in (("ttl", _RELEASE_TTL_S), ("periodic_compaction_seconds", 0))
        )
        if style == "leveled":
            return cls(style, periodic_s, ttl_s)
        # RocksDB takes the smaller one.
        return cls(style, min((each for each in (ttl_s, periodic_s) if each), default=0), 0)

    def owed_bytes_per_s(
        self,
        level_bytes: list[float],
        user_bytes_per_s: float,
        amplification: Amplification | None,
        data: TreeData | None,
    ) -> float:
        """Returns the bytes that compactions by age move each second in steady state.

        Args:
            level_bytes: bytes of the family's levels.
            user_bytes_per_s: bytes that the user writes to the family each second.
            amplification: the family's steady amplification; None if nothing is written.
            data: its entries; None if nothing is written.
        """
        owed = flushed_bytes_per_s = turnover_per_s = 0.0
        if amplification is not None and data is not None:
            flushed_bytes_per_s = amplification.flush * user_bytes_per_s
            turnover_per_s = amplification.last_level * user_bytes_per_s / data.stored_bytes
        filled = [each for each in level_bytes if each > 0]
        if self.periodic_s and filled:
            stored = sum(filled) if self.style == "universal" else filled[-1]
            owed += periodic_bytes_per_s(self.style, stored, self.periodic_s, turnover_per_s)
        if self.ttl_s:
            owed += ttl_bytes_per_s(filled, self.ttl_s, flushed_bytes_per_s)
        return owed


def level_bytes_of(part: Mapping[str, Any]) -> list[float]:
    """Returns the bytes of each level in raw figures of a store or a family; empty if they are missing."""
    return [float(each) for each in part.get("level_bytes", ())]
