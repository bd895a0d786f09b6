"""Block caches as the text of RocksDB's option `block_cache`."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from rocktune.errors import UserError
from rocktune.units import format_bytes, parse_bytes

_KIND = "kind"
_CAPACITY = "capacity"
_HYPER_CLOCK = "hyper_clock"
_MIN_SHARD_BYTES = 512 << 10
_MAX_SHARD_BITS = 6
_SETTINGS = ("high_pri_pool_ratio", "low_pri_pool_ratio", "num_shard_bits", "strict_capacity_limit")


@dataclass(frozen=True)
class BlockCache:
    """A block cache. RocksDB reads it from an OPTIONS file and never writes it there.

    Attributes:
        capacity_bytes: at full size.
        kind: "lru", which is what a text makes, or "hyper_clock", RocksDB's default since 10.7.
        settings: (name, text) of what RocksDB would otherwise choose, by name; empty for its own choice.
    """

    capacity_bytes: int
    kind: str = "lru"
    settings: tuple[tuple[str, str], ...] = ()

    @property
    def text(self) -> str:
        """The option's text: the capacity alone, or a list where there is more to say."""
        fields = [(_CAPACITY, str(self.capacity_bytes)), *self.settings]
        if self.kind != "lru":
            fields.insert(0, (_KIND, self.kind))
        return fields[0][1] if len(fields) == 1 else ";".join(f"{name}={text}" for name, text in fields)

    @property
    def shown(self) -> str:
        """The cache for people: `512MiB (LRU, num_shard_bits=4)`."""
        kind = "LRU" if self.kind == "lru" else self.kind.replace("_", " ")
        return f"{format_bytes(self.capacity_bytes)} ({', '.join((kind, *map('='.join, self.settings)))})"

    def with_capacity(self, capacity_bytes: int) -> "BlockCache":
        """Returns the same kind of cache with another capacity."""
        return replace(self, capacity_bytes=capacity_bytes)

    def divided(self, scale: int) -> "BlockCache":
        """Returns the cache of a 1/scale model: the capacity is divided and rounded, the rest stays."""
        return self.with_capacity((2 * self.capacity_bytes + scale) // (2 * scale))

    def to_json(self) -> dict[str, Any]:
        """Returns the fields as JSON data."""
        return {
            "kind": self.kind,
            "capacity_bytes": self.capacity_bytes,
            "settings": dict(self.settings),
        }


def block_cache_in(text: str | int, what: str = "block_cache") -> BlockCache:
    """Reads a block cache: a size, or a list such as `capacity=64MiB;num_shard_bits=4`.

    Args:
        text: as RocksDB takes it (`64M`), or a size as people write it (`64MiB`).
        what: how the error names it.

    Raises:
        UserError: the text is neither.
    """
    if isinstance(text, int) or "=" not in text:
        return BlockCache(parse_bytes(text, what))
    fields: dict[str, str] = {}
    for part in filter(str.strip, text.strip().strip("{}").split(";")):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or name in fields or name not in (_KIND, _CAPACITY, *_SETTINGS):
            known = ", ".join((_CAPACITY, *_SETTINGS))
            raise UserError(f"{what}: '{part.strip()}' is no setting of a block cache; it has {known}")
        fields[name] = value
    kind = fields.pop(_KIND, "lru")
    if kind not in ("lru", _HYPER_CLOCK):
        raise UserError(f"{what}: '{kind}' is no kind of cache; leave kind out for an LRU cache")
    if _CAPACITY not in fields:
        raise UserError(f"{what}: '{text}' has no capacity; write capacity=64MiB")
    capacity_bytes = parse_bytes(fields.pop(_CAPACITY), what)
    return BlockCache(capacity_bytes, kind, tuple(sorted(fields.items())))


def printed_block_cache(name: str, printed: Mapping[str, str]) -> BlockCache:
    """Returns the cache that RocksDB describes in its LOG, without what it chooses for the capacity itself.

    Args:
        name: of the cache's class, such as "LRUCache".
        printed: its settings, by name.
    """
    capacity_bytes = int(printed[_CAPACITY])
    if "HyperClockCache" in name:
        return BlockCache(capacity_bytes, _HYPER_CLOCK)
    usual = {
        "high_pri_pool_ratio": 0.5,
        "low_pri_pool_ratio": 0.0,
        "num_shard_bits": float(_shard_bits(capacity_bytes)),
        "strict_capacity_limit": 0.0,
    }
    settings = {name: text for name, text in printed.items() if name in usual and float(text) != usual[name]}
    if "strict_capacity_limit" in settings:
        settings["strict_capacity_limit"] = "true"
    return BlockCache(capacity_bytes, settings=tuple(sorted(settings.items())))


def _shard_bits(capacity_bytes: int) -> int:
    """Returns the shard bits that RocksDB chooses for an LRU cache: up to 64 shards of at least 512 KiB."""
    shards = max(1, capacity_bytes // _MIN_SHARD_BYTES)
    return min(_MAX_SHARD_BITS, shards.bit_length() - 1)


def is_block_cache(text: str) -> bool:
    """Returns whether the text makes a cache; for "null" and no text RocksDB makes its default one."""
    return re.fullmatch(r"\s*(null(ptr)?)?\s*", text) is None
