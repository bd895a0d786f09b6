"""Tables of past measurements: files that sweeps and studies write and engine `recorded` replays."""

from rocktune.table.files import read_table, write_table
from rocktune.table.rows import Conditions, Table, TableRow, knob_types, merged_tables

__all__ = ["Conditions", "Table", "TableRow", "knob_types", "merged_tables", "read_table", "write_table"]
