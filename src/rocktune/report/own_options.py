"""The report's section on the user's OPTIONS file: what became of each of its options."""

from html import escape

from rocktune.options_account import AccountEntry, Fate, OptionsAccount
from rocktune.outcome import Outcome

_HEADS = ("Line", "Option", "Value", "Fate", "Used instead", "Why")
_CHANGED_HEADS = ("Option", "Default here", "Default elsewhere", "RocksDB")


def own_options_section(outcome: Outcome) -> str:
    """Returns the HTML section; "" without an OPTIONS file, and for outcomes of older ledgers."""
    account = outcome.options_account
    if account is None:
        return ""
    version = f" of RocksDB {account.file_version}" if account.file_version else ""
    rows = "".join(_row(entry) for fate in reversed(Fate) for entry in account.with_fate(fate))
    return (
        f'<section><h2>Your OPTIONS file</h2>\n<p class="note">{escape(account.summary)}. The file is one'
        f"{escape(version)}; measured is column family '{escape(account.family)}' by RocksDB "
        f"{escape(account.rocksdb_version)}.</p>\n"
        f"{_table('What became of each option', _HEADS, rows)}{_changed_defaults(account)}</section>\n"
    )


def _changed_defaults(account: OptionsAccount) -> str:
    """Returns the table of options that the file leaves out and that have another default elsewhere."""
    rows = "".join(
        "<tr>"
        + "".join(f"<td>{escape(cell)}</td>" for cell in (each.name, each.used, each.other, each.releases))
        + "</tr>"
        for each in account.changed_defaults
    )
    return _table("Left out, with another default elsewhere", _CHANGED_HEADS, rows) if rows else ""


def _table(summary: str, heads: tuple[str, ...], rows: str) -> str:
    named = "".join(f"<th>{head}</th>" for head in heads)
    return (
        f'<details><summary>{summary}</summary><div class="scroll"><table><thead><tr>{named}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div></details>"
    )


def _row(entry: AccountEntry) -> str:
    name = f"{entry.family}: {entry.name}" if entry.family not in ("", "default") else entry.name
    cells = (name, entry.given, str(entry.fate), entry.value, entry.why)
    return (
        f'<tr><td class="number">{entry.line}</td>'
        + "".join(f"<td>{escape(cell)}</td>" for cell in cells)
        + "</tr>"
    )
