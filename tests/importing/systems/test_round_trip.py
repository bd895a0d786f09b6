"""What a target's export holds is read back as the same options."""

import re
from collections.abc import Iterator

import numpy as np
import pytest
from tests.export.samples import TUNED, exported

from rocktune.export import export_targets
from rocktune.importing import Fate, LinkedRocksDb, imported, parsed_document
from rocktune.space import OptionMaps, merged_options, space_document, space_from_document

# Where a target's unit or formula cannot hold a value exactly, with the largest relative difference.
_ROUNDED = {
    "kvrocks": 0.05,  # MiB
    "cassandra": 0.35,  # MiB, and the share of false positives in two digits
}
_SYSTEMS_HAVE = {"allow_mmap_reads": "false", "target_file_size_multiplier": "1"}
_LEVELED = "kCompactionStyleLevel"
_JOBS = ("max_background_compactions", "max_background_flushes", "max_background_jobs")


def configurations() -> Iterator[OptionMaps]:
    yield TUNED
    for name in ("dremel", "jia-chen", "alabed"):
        space = space_from_document(space_document(name), None, 1e6)
        for configuration in space.sample(4, np.random.default_rng(5)):
            yield merged_options(space.options(configuration))


def left_out(text: str) -> set[str]:
    """Returns the names that an export lists as left out; its comments wrap."""
    _, found, rest = text.partition("Left out:")
    listed = re.split(r"\n(?![#/]+ )", rest)[0] if found else ""
    return set(re.findall(r"^(?:#|//) +- ([a-z]\w*)=", listed, re.MULTILINE))


@pytest.mark.parametrize("target", export_targets())
def test_an_export_is_read_back(target: str, linked: LinkedRocksDb) -> None:
    held = 0
    for options in configurations():
        if target in ("kvrocks", "cassandra") and options["cf"].get("compaction_style", _LEVELED) != _LEVELED:
            continue  # refused, which their own tests show
        text = exported(target, options)
        document = parsed_document(text.encode(), "export")
        read = imported(document, linked)
        stated = {f"{entry.section}.{entry.name}": entry for entry in read.account.entries}
        missing = left_out(text)
        for section, texts in options.items():
            for name, value in texts.items():
                if name in _JOBS or name in missing:
                    continue
                if f"{section}.{name}" not in stated:
                    # What is neither written nor left out has the value that the system has anyway.
                    there = (linked.default(section, name), _SYSTEMS_HAVE.get(name, ""))
                    assert any(same(target, value, each) for each in there), (name, value)
                    continue
                assert same(target, value, read.options[section][name]), (name, value, options)
                held += 1
        assert not read.account.with_fate(Fate.FOREIGN)
    assert held > 20


def same(target: str, exported_value: str, read: str) -> bool:
    """Returns whether two texts mean the same, but for the target's rounding."""
    if exported_value == read or {exported_value, read} in ({"true", "1"}, {"false", "0"}):
        return True
    numbers = [re.fullmatch(r"(?:capacity=|bloomfilter:)?(-?\d+(?:\.\d+)?)(?:[;:].*)?", each)
               for each in (exported_value, read)]  # fmt: skip
    if None in numbers:
        return False
    first, second = (float(each[1]) for each in numbers if each is not None)
    return abs(first - second) <= _ROUNDED.get(target, 0) * max(abs(first), abs(second))


def test_exports_name_what_they_leave_out() -> None:
    assert left_out("# Left out:\n# - a_b=1: no\n# - c=2: it\n#   wraps\n\nx=1\n# - d=1") == {"a_b", "c"}
