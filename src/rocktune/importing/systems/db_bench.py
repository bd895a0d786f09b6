"""db_bench's command lines and scripts: flags such as --write_buffer_size=67108864."""

import re
import shlex
from collections.abc import Callable

from rocktune.importing.document import OptionsFileError
from rocktune.importing.systems.settings import Collected, Setting, is_option
from rocktune.systems.values import choice, decimal, switch, whole

_HEREDOC = re.compile(r"<<'?(\w+)'?\n(.*?)\n\1\n", re.DOTALL)
_COMPRESSIONS = {
    "kNoCompression": "none",
    "kSnappyCompression": "snappy",
    "kZlibCompression": "zlib",
    "kBZip2Compression": "bzip2",
    "kLZ4Compression": "lz4",
    "kLZ4HCCompression": "lz4hc",
    "kZSTD": "zstd",
}
_STYLES = {
    "kCompactionStyleLevel": "0",
    "kCompactionStyleUniversal": "1",
    "kCompactionStyleFIFO": "2",
    "kCompactionStyleNone": "3",
}
_SPECIAL = {
    "cache_size": lambda text: {"block_cache": whole(-1, 1 << 62).read(text)},
    "bloom_bits": lambda text: {"filter_policy": _bloom(text)},
    "compression_type": lambda text: {"compression": choice(_COMPRESSIONS).read(text)},
    "compaction_style": lambda text: {"compaction_style": choice(_STYLES).read(text)},
    "open_files": lambda text: {"max_open_files": text},
    "subcompactions": lambda text: {"max_subcompactions": text},
}


def _bloom(text: str) -> str:
    bits = float(decimal.read(text))
    return f"bloomfilter:{bits:g}:false" if bits > 0 else "nullptr"


def recognises(text: str) -> bool:
    """Returns whether a text runs db_bench, or is a file of its flags."""
    return re.search(r"^[^#\n]*(\bdb_bench\s+(\\\n\s*)?-|--benchmarks=)", text, re.MULTILINE) is not None


def is_option_flag(name: str) -> bool:
    """Returns whether a flag sets an option of the store."""
    return name in _SPECIAL or is_option(name)


def options_text(text: str) -> str | None:
    """Returns the OPTIONS file that a script writes for db_bench; None if it writes none."""
    found = next((each for each in _HEREDOC.finditer(text) if "[DBOptions]" in each[2]), None)
    return None if found is None else found[2] + "\n"


def read(path: str, text: str) -> Collected:
    """Returns the options of db_bench's flags; see `Collected.read` for what is refused."""
    file = Collected("db_bench", path)
    flags = file.once(_flags(path, text))
    special = {name: read for name, read in _SPECIAL.items() if name in flags}
    for name in flags:
        if name not in special and is_option(name):
            special[name] = _of_the_same_name(name)
    if "options_file" in flags:
        file.leave_out(flags.pop("options_file"), "name that file itself with --options-file")
    file.own = sum(name not in special for name in flags)
    file.db = file.read({name: flag for name, flag in flags.items() if name in special}, {}, special)
    file.notes.append("Options without a flag have RocksDB's defaults; db_bench has some of its own.")
    return file


def _of_the_same_name(option: str) -> Callable[[str], dict[str, str]]:
    """Returns what reads a flag that is called as RocksDB's option is."""
    return lambda text: {option: _value(text)}


def _value(text: str) -> str:
    return switch().read(text) if text.lower() in ("true", "false", "yes", "no") else text


def _flags(path: str, text: str) -> list[Setting]:
    found = []
    joined = text.replace("\\\n", " \x00")  # keeps the number of lines
    for number, line in enumerate(joined.split("\n"), 1):
        if line.strip().startswith("#"):
            continue
        try:
            words = shlex.split(line.replace("\x00", ""))
        except ValueError as error:
            raise OptionsFileError(f"options file {path}: line {number}: {error}") from None
        for word in words:
            match = re.fullmatch(r"--?(\w+)(?:=(.*))?", word, re.DOTALL)
            if match:
                found.append(Setting(match[1], "true" if match[2] is None else match[2], number))
    return found
