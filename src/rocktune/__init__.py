"""rocktune finds, proves and keeps the best RocksDB configuration for a workload on a device."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rocktune.online import AdaptiveStore
    from rocktune.online.flsm import FlsmFamily, FlsmStore

__all__ = ["AdaptiveStore", "FlsmFamily", "FlsmStore"]


def __getattr__(name: str) -> Any:
    """Returns a store class of `rocktune.online`, imported on first use.

    Raises:
        AttributeError: the package has no such attribute.
    """
    # Only rocktune.online needs the native extension; the command line must start without loading it.
    if name in __all__:
        from rocktune import online

        return getattr(online, name)
    raise AttributeError(f"module 'rocktune' has no attribute '{name}'")
