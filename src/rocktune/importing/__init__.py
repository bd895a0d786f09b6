"""Reading what users have: OPTIONS files of every RocksDB version, and of people."""

from rocktune.importing.document import OptionsDocument, OptionsFileError
from rocktune.importing.examination import Examined, LinkedRocksDb
from rocktune.importing.reading import ImportedOptions, import_options, imported
from rocktune.importing.syntax import parsed_document, read_options_document
from rocktune.options_account import AccountEntry, Fate, OptionsAccount

__all__ = [
    "AccountEntry",
    "Examined",
    "Fate",
    "ImportedOptions",
    "LinkedRocksDb",
    "OptionsAccount",
    "OptionsDocument",
    "OptionsFileError",
    "import_options",
    "imported",
    "parsed_document",
    "read_options_document",
]
