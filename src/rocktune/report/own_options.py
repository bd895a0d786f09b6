"""The report's section on the user's OPTIONS file: what became of each of its options."""

from html import escape

from rocktune.options_account import AccountEntry, Fate
from rocktune.outcome import Outcome

_HEADS = ("Line", "Option", "Value", "Fate", "Used instead", "Why")


def own_options_section(outcome: Outcome) -> str:
    """Returns the HTML section; "" without an OPTIONS file, and for outcomes of older ledgers."""
    account = outcome.options_account
    if account is None:
        return ""
    version = f" of RocksDB {account.file_version}" if account.file_version else ""
    heads = "".join(f"<th>{head}</th>" for head in _HEADS)
    rows = "".join(_row(entry) for fate in reversed(Fate) for entry in account.with_fate(fate))
    return (
        f'<section><h2>Your OPTIONS file</h2>\n<p class="note">{escape(account.summary)}. The file is one'
        f"{escape(version)}; measured is column family '{escape(account.family)}' by RocksDB "
        f"{escape(account.rocksdb_version)}.</p>\n"
        f'<details><summary>What became of each option</summary><div class="scroll"><table><thead><tr>{heads}'
        f"</tr></thead><tbody>{rows}</tbody></table></div></details></section>\n"
    )


def _row(entry: AccountEntry) -> str:
    name = f"{entry.family}: {entry.name}" if entry.family not in ("", "default") else entry.name
    cells = (name, entry.given, str(entry.fate), entry.value, entry.why)
    return (
        f'<tr><td class="number">{entry.line}</td>'
        + "".join(f"<td>{escape(cell)}</td>" for cell in cells)
        + "</tr>"
    )
