"""Kvrocks' kvrocks.conf: lines such as `rocksdb.write_buffer_size 64`."""

from rocktune.importing.systems.lines import assignments
from rocktune.importing.systems.settings import Collected
from rocktune.systems.kvrocks import COMPRESSIONS, FIXED, PREFIX, RULES
from rocktune.systems.values import choice


def recognises(text: str) -> bool:
    """Returns whether a file has a setting such as `rocksdb.block_size 16384`."""
    return any(each.name.startswith(PREFIX) for each in assignments(text, r"\s+"))


def read(path: str, text: str) -> Collected:
    """Returns the options of a kvrocks.conf; see `Collected.read` for what is refused."""
    file = Collected("Kvrocks", path, fixed=FIXED, shared_cache=True)
    settings = list(assignments(text, r"\s+"))
    ours = [each for each in settings if each.name.startswith(PREFIX)]
    file.own = len(settings) - len(ours)
    named = file.once(ours)
    # Kvrocks compresses only level 2 and below by default, which is no plain option.
    named.pop(PREFIX + "compression_start_level", None)
    special = {PREFIX + "compression": lambda value: {"compression": choice(COMPRESSIONS).read(value)}}
    file.db = file.read(named, RULES, special)
    return file
