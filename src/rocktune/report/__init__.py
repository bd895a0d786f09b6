"""Reports of studies, comparisons and online runs, as sentences and as self-contained HTML pages."""

from rocktune.report.comparison import render_comparison
from rocktune.report.disks import FIGURE_LABELS, disk_notes, format_device_figure
from rocktune.report.document import write_document
from rocktune.report.driven import write_driven_report
from rocktune.report.governed import write_governed_report
from rocktune.report.logged import write_log_report
from rocktune.report.page import render_report, write_report
from rocktune.report.reproduce import check_command_line, command_line
from rocktune.report.scale import scale_sentences
from rocktune.report.tradeoff import write_tradeoff_report
from rocktune.report.upgraded import write_upgrade_report

__all__ = [
    "FIGURE_LABELS",
    "check_command_line",
    "command_line",
    "disk_notes",
    "format_device_figure",
    "render_comparison",
    "render_report",
    "scale_sentences",
    "write_document",
    "write_driven_report",
    "write_governed_report",
    "write_log_report",
    "write_report",
    "write_tradeoff_report",
    "write_upgrade_report",
]
