"""What a study found, as sentences and as one self-contained HTML page."""

from rocktune.report.page import render_report, write_report

__all__ = ["render_report", "write_report"]
