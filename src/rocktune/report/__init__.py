"""What a study found, as sentences and as one self-contained HTML page."""

from rocktune.report.page import render_report, write_report
from rocktune.report.reproduce import command_line

__all__ = ["command_line", "render_report", "write_report"]
