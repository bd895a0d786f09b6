"""The tuner `auto`."""

from rocktune.tuners.auto.search import Auto

__all__ = ["Auto"]
