"""The knobs that may be tuned, the rules between them, and RocksDB options as text."""

from rocktune.space.configuration import Configuration, OptionMaps, Value

__all__ = ["Configuration", "OptionMaps", "Value"]
