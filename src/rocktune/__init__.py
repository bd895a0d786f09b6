"""rocktune finds, proves and keeps the best RocksDB configuration for a workload on a device."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rocktune.online.flsm import FlsmStore

__all__ = ["FlsmStore"]


def __getattr__(name: str) -> Any:
    """Returns what a program embeds, loaded when it is asked for: commands need none of it."""
    if name == "FlsmStore":
        from rocktune.online.flsm import FlsmStore

        return FlsmStore
    raise AttributeError(f"module 'rocktune' has no attribute '{name}'")
