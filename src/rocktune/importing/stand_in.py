"""Lets one version of RocksDB stand for another one: it gets the other one's defaults where they differ."""

from dataclasses import dataclass, replace

from rocktune.importing.document import SubOption
from rocktune.importing.history import default_changes, meaning_changes
from rocktune.importing.history.releases import lies_between, release_lines
from rocktune.importing.reading import ImportedOptions
from rocktune.importing.values import parts_of, rendered
from rocktune.space import OptionMaps


@dataclass(frozen=True)
class StandIn:
    """An OPTIONS file as a version reads it that stands for another one.

    Attributes:
        read: the file, with the other version's defaults of options that it leaves out.
        given: paths of the options that got such a default.
        left: changes between the two versions that remain, each as "cf.ttl (6.0)".
    """

    read: ImportedOptions
    given: tuple[str, ...] = ()
    left: tuple[str, ...] = ()


def standing_for(read: ImportedOptions, wanted: str, measured: str) -> StandIn:
    """Returns the file with the defaults of the version that another one stands for.

    Args:
        read: the file as the measured version reads it.
        wanted: the version to stand for.
        measured: the version that stands for it.
    """
    stated = {f"{entry.section}.{entry.name}" for entry in read.account.entries}
    options, given, left = read.options, [], []
    for path, since in _passed(wanted, measured).items():
        if path in stated:
            continue
        changed = _with_value(options, path, _default_in(path, wanted))
        if changed is None:
            left.append(f"{path} ({since})")
        else:
            options = changed
            given.append(path)
    left += [
        f"{meaning.path} ({meaning.since})"
        for meaning in meaning_changes()
        if _lies_between(meaning.since, wanted, measured)
    ]
    return StandIn(replace(read, options=options), tuple(given), tuple(left))


def _passed(one: str, other: str) -> dict[str, str]:
    """Returns the options whose default changes between two versions, with the first release that does so."""
    passed: dict[str, str] = {}
    for change in default_changes():
        if _lies_between(change.since, one, other):
            passed.setdefault(change.path, change.since)
    return passed


def _lies_between(release: str, one: str, other: str) -> bool:
    """Returns whether a release lies between two versions in either order."""
    return lies_between(release, one, other) or lies_between(release, other, one)


def _default_in(path: str, version: str) -> str:
    """Returns the default of an option in a version, for an option whose default ever changed."""
    steps = [change for change in default_changes() if change.path == path]
    default = steps[0].before
    for step in steps:
        if lies_between(step.since, release_lines()[0], version):
            default = step.after
    return default


def _with_value(options: OptionMaps, path: str, value: str) -> OptionMaps | None:
    """Returns options with another value of an option, or of a setting inside one.

    None if the options do not have it: the measured version does not know the option, or a text cannot say
    its value, as of a block cache.
    """
    section, _, rest = path.partition(".")
    name, _, setting = rest.partition(".")
    text = options.get(section, {}).get(name)
    if text is None or name == "block_cache":
        return None
    if setting:
        parts = parts_of(text)
        if setting not in {part.name for part in parts}:
            return None
        value = rendered(
            tuple(SubOption(part.name, value) if part.name == setting else part for part in parts)
        )
    return {**options, section: {**options[section], name: value}}
