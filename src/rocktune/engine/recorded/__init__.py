"""Engine `recorded`: a table of past measurements, replayed exactly or interpolated."""

from rocktune.engine.recorded.engine import RecordedEngine

__all__ = ["RecordedEngine"]
