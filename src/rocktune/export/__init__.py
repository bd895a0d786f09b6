"""What a study found, in the form in which other systems take it; always with full-size values."""

from rocktune.export.targets import export_study, export_targets

__all__ = ["export_study", "export_targets"]
