"""MyRocks' part of my.cnf: variables such as rocksdb_block_size, and strings of column-family options."""

from rocktune.importing.systems.lines import assignments
from rocktune.importing.systems.settings import Collected, Reading, Setting
from rocktune.importing.values import UnbalancedBracesError, parts_of
from rocktune.systems.myrocks import VARIABLES

_DEFAULT, _OVERRIDE = "rocksdb_default_cf_options", "rocksdb_override_cf_options"
_THREADS = ("max_background_compactions", "max_background_flushes")


def recognises(text: str) -> bool:
    """Returns whether a file has a variable such as rocksdb_block_cache_size."""
    return any(_plain(each).startswith("rocksdb_") for each in assignments(text, "=", "#;"))


def read(path: str, text: str) -> Collected:
    """Returns the options of a my.cnf; see `Collected.read` for what is refused."""
    file = Collected("MyRocks", path, shared_cache=True)
    settings = [Setting(_plain(each), each.text, each.line) for each in assignments(text, "=", "#;")]
    ours = [each for each in settings if each.name.startswith("rocksdb_")]
    file.own = len(settings) - len(ours)
    named = file.once(ours)
    default, override = named.pop(_DEFAULT, None), named.pop(_OVERRIDE, None)
    threads = {f"rocksdb_{name}": lambda value, name=name: {name: value} for name in _THREADS}
    file.db = file.read(named, VARIABLES, threads)
    if default is not None:
        file.db += _options(file, default, f"{{{default.text}}}")
    if override is not None:
        file.families["default"] = []
        for family, options in _parts(file, override, f"{{{override.text}}}"):
            file.families[family] = _options(file, override, options)
    return file


def _plain(setting: Setting) -> str:
    """Returns a variable's name, which may have hyphens and the prefix loose_."""
    return setting.name.strip().lower().replace("-", "_").removeprefix("loose_")


def _options(file: Collected, setting: Setting, text: str) -> list[Reading]:
    """Returns the options in a string such as `{write_buffer_size=64m;...}`, which are RocksDB's own."""
    found = []
    for name, value in _parts(file, setting, text):
        if name == "block_based_table_factory":
            found += _options(file, setting, value)
        else:
            found.append(Reading(name, value, (Setting(name, value, setting.line),)))
    return found


def _parts(file: Collected, setting: Setting, text: str) -> list[tuple[str, str]]:
    try:
        return [(part.name, part.text) for part in parts_of(text)]
    except UnbalancedBracesError as error:
        raise file.refused(setting, f"is malformed: {error}") from None
