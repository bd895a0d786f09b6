"""Reading what users have: OPTIONS files of every RocksDB version, and of people."""

from rocktune.importing.document import OptionsDocument, OptionsFileError
from rocktune.importing.examination import Examined, LinkedRocksDb
from rocktune.importing.installed import InstalledSide, installed_side
from rocktune.importing.reading import ImportedOptions, import_options, imported
from rocktune.importing.syntax import parsed_document, read_options_document
from rocktune.importing.upgrade import Change, ChangeKind, StoreEffect, Upgrade
from rocktune.importing.upgrading import upgrade_of
from rocktune.options_account import AccountEntry, Fate, OptionsAccount

__all__ = [
    "AccountEntry",
    "Change",
    "ChangeKind",
    "Examined",
    "Fate",
    "ImportedOptions",
    "InstalledSide",
    "LinkedRocksDb",
    "OptionsAccount",
    "OptionsDocument",
    "OptionsFileError",
    "StoreEffect",
    "Upgrade",
    "import_options",
    "imported",
    "installed_side",
    "parsed_document",
    "read_options_document",
    "upgrade_of",
]
