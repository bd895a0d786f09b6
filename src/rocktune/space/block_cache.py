"""Block caches, which RocksDB's option `block_cache` describes as text."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from rocktune.errors import UserError
from rocktune.units import format_bytes, parse_bytes

_KIND = "kind"
_CAPACITY = "capacity"
_HYPER_CLOCK = "hyper_clock"
# RocksDB's GetDefaultCacheShardBits: shards of at least 512 KiB, at most 64 of them.
_MIN_SHARD_BYTES = 512 << 10
_MAX_SHARD_BITS = 6
_SETTINGS = ("high_pri_pool_ratio", "low_pri_pool_ratio", "num_shard_bits", "strict_capacity_limit")


@dataclass(frozen=True)
class BlockCache:
    """A block cache. RocksDB reads one from an OPTIONS file, but does not write it when it writes the file.

    Attributes:
        capacity_bytes: capacity in bytes at full size.
        kind: "lru", which RocksDB makes of a text without a kind, or "hyper_clock", its default since 10.7.
        settings: pairs of name and text, ordered by name, for settings that differ from RocksDB's choice.
    """

    capacity_bytes: int
    kind: str = "lru"
    settings: tuple[tuple[str, str], ...] = ()

    @property
    def text(self) -> str:
        """The option's text for RocksDB: the capacity alone, or a list (`capacity=64;num_shard_bits=4`)."""
        fields = [(_CAPACITY, str(self.capacity_bytes)), *self.settings]
        if self.kind != "lru":
            fields.insert(0, (_KIND, self.kind))
        return fields[0][1] if len(fields) == 1 else ";".join(f"{name}={text}" for name, text in fields)

    @property
    def shown(self) -> str:
        """The cache as text for people: `512MiB (LRU, num_shard_bits=4)`."""
        kind = "LRU" if self.kind == "lru" else self.kind.replace("_", " ")
        return f"{format_bytes(self.capacity_bytes)} ({', '.join((kind, *map('='.join, self.settings)))})"

    def with_capacity(self, capacity_bytes: int) -> "BlockCache":
        """Returns a cache of this kind and these settings with another capacity."""
        return replace(self, capacity_bytes=capacity_bytes)

    def divided(self, scale: int) -> "BlockCache":
        """Returns the cache of a 1/S model: the capacity divided by S and rounded, all else unchanged."""
        # Rounds half up in whole numbers, because doubles are inexact above 2^53.
        return self.with_capacity((2 * self.capacity_bytes + scale) // (2 * scale))

    def to_json(self) -> dict[str, Any]:
        """Returns the cache as a JSON object, the form of `rocktune.outcome.CacheShare`."""
        return {
            "kind": self.kind,
            "capacity_bytes": self.capacity_bytes,
            "settings": dict(self.settings),
        }


def parse_block_cache(text: str | int, what: str = "block_cache") -> BlockCache:
    """Returns the block cache that a text describes.

    Args:
        text: a size in RocksDB's form (`64M`) or in that of people (`64MiB`), or a list such as
            `capacity=64MiB;num_shard_bits=4`.
        what: name of the option in the error message.

    Raises:
        UserError: the text is malformed, has an unknown setting, or has no capacity.
    """
    if isinstance(text, int) or "=" not in text:
        return BlockCache(parse_bytes(text, what))
    fields: dict[str, str] = {}
    # RocksDB puts braces around a list that is nested in another option's text.
    for part in filter(str.strip, text.strip().strip("{}").split(";")):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or name in fields or name not in (_KIND, _CAPACITY, *_SETTINGS):
            known = ", ".join((_CAPACITY, *_SETTINGS))
            raise UserError(
                f"{what}: '{part.strip()}' is not a setting of a block cache; write once each of: {known}"
            )
        fields[name] = value
    kind = fields.pop(_KIND, "lru")
    if kind not in ("lru", _HYPER_CLOCK):
        raise UserError(
            f"{what}: '{kind}' is not a kind of cache; use hyper_clock, or leave kind out for an LRU cache"
        )
    if _CAPACITY not in fields:
        raise UserError(f"{what}: '{text}' has no capacity; add one, such as capacity=64MiB")
    capacity_bytes = parse_bytes(fields.pop(_CAPACITY), what)
    return BlockCache(capacity_bytes, kind, tuple(sorted(fields.items())))


def block_cache_from_log(name: str, printed: Mapping[str, str]) -> BlockCache:
    """Returns the block cache that RocksDB printed into its LOG.

    Settings that RocksDB chooses by itself for this capacity are left out.

    Args:
        name: name of the cache's class, such as "LRUCache".
        printed: the printed settings, by name.
    """
    capacity_bytes = int(printed[_CAPACITY])
    if "HyperClockCache" in name:
        return BlockCache(capacity_bytes, _HYPER_CLOCK)
    defaults = {
        "high_pri_pool_ratio": 0.5,
        "low_pri_pool_ratio": 0.0,
        "num_shard_bits": float(_shard_bits(capacity_bytes)),
        "strict_capacity_limit": 0.0,
    }
    settings = {
        name: text for name, text in printed.items() if name in defaults and float(text) != defaults[name]
    }
    # The LOG prints switches as 0 and 1; the option's parser takes words.
    if "strict_capacity_limit" in settings:
        settings["strict_capacity_limit"] = "true"
    return BlockCache(capacity_bytes, settings=tuple(sorted(settings.items())))


def _shard_bits(capacity_bytes: int) -> int:
    """Returns the number of shard bits that RocksDB chooses for an LRU cache of this capacity."""
    shards = max(1, capacity_bytes // _MIN_SHARD_BYTES)
    return min(_MAX_SHARD_BITS, shards.bit_length() - 1)


def is_block_cache(text: str) -> bool:
    """Returns whether an option's text describes a cache; RocksDB makes its default for "null" or no text."""
    return re.fullmatch(r"\s*(null(ptr)?)?\s*", text) is None
