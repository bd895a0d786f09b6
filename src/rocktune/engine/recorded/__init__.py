"""A table of past measurements as an engine: replayed exactly, or interpolated."""

from rocktune.engine.recorded.engine import RecordedEngine

__all__ = ["RecordedEngine"]
