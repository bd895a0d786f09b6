"""Exports a study's configuration in the formats of other systems, always with full-size values."""

from rocktune.export.targets import export_study, export_targets

__all__ = ["export_study", "export_targets"]
