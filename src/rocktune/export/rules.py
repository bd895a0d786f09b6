"""From RocksDB's options to another system's settings, by a table: one rule for each option that it has."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from rocktune.export.values import NotExpressibleError, Writer, number_in
from rocktune.space import CATALOGUE, OptionMaps, merged_options
from rocktune.space.options import SECTIONS, knob_values

Settings = dict[str, str]
Rule = Callable[[str], Settings]
"""Takes an option's text, returns the system's settings for it; raises NotExpressibleError."""

UNCHANGED = MappingProxyType({"allow_mmap_reads": "false", "target_file_size_multiplier": "1"})
"""RocksDB's own values, which most systems have no setting for and leave alone."""

THREADS = ("max_background_compactions", "max_background_flushes")


@dataclass(frozen=True)
class Translated:
    """What a system's rules made of options.

    Attributes:
        settings: by the system's names, in the rules' order.
        unmapped: one line for each option that is not among them.
    """

    settings: Settings
    unmapped: list[str]


def named(name: str, writer: Writer) -> Rule:
    """Returns the rule for an option that is one setting there."""
    return lambda text: {name: writer(text)}


def flat(options: OptionMaps) -> Settings:
    """Returns all options in one map; no name is in two of RocksDB's sections."""
    return {name: text for section in SECTIONS for name, text in options.get(section, {}).items()}


def translated(
    options: Mapping[str, str],
    rules: Mapping[str, Rule],
    fixed: Mapping[str, str] = MappingProxyType({}),
    reasons: Mapping[str, str] = MappingProxyType({}),
) -> Translated:
    """Applies a system's rules.

    Args:
        options: RocksDB's, as text.
        rules: by RocksDB's name, in the order in which the settings are written.
        fixed: what the system's stores have of options without a rule; that value is not listed.
        reasons: why an option has no rule; without one, the system has no such setting.
    """
    settings: Settings = {}
    refused: dict[str, str] = {}
    for name in (name for name in rules if name in options):
        try:
            settings |= rules[name](options[name])
        except NotExpressibleError as error:
            refused[name] = str(error)
    why = {name: "no such setting" for name in options if name not in rules}
    why |= {name: f"{text} there" for name, text in fixed.items()} | dict(reasons) | refused
    unmapped = [
        f"{name}={text}: {why[name]}"
        for name, text in options.items()
        if name in refused or (name not in rules and not _same(text, fixed.get(name)))
    ]
    return Translated(settings, unmapped)


def _same(text: str, other: str | None) -> bool:
    """Tells whether two texts are one value; RocksDB writes ratios with six decimals."""
    if other is None or text == other:
        return text == other
    try:
        return number_in(text) == number_in(other)
    except NotExpressibleError:
        return False


def background_threads(options: OptionMaps) -> tuple[int, int] | None:
    """Returns how many compactions and flushes may run at once; None where RocksDB decides by all jobs."""
    given = [options.get("db", {}).get(name, "-1") for name in THREADS]
    if all(text == "-1" for text in given):
        return None
    values = knob_values(options, (CATALOGUE[name] for name in THREADS))
    compactions, flushes = (int(values[name]) for name in THREADS)
    return compactions, flushes


def with_background_jobs(options: OptionMaps) -> tuple[OptionMaps, list[str]]:
    """Returns the options with one number of background jobs in the place of two.

    Returns:
        The options, and a note where the two numbers were given.
    """
    result, threads = merged_options(options), background_threads(options)
    for name in THREADS:
        result["db"].pop(name, None)
    if threads is None:
        return result, []
    compactions, flushes = threads
    result["db"]["max_background_jobs"] = str(compactions + flushes)
    return result, [
        f"Measured with {THREADS[0]}={compactions} and {THREADS[1]}={flushes}; here they are"
        f" {compactions + flushes} jobs, of which RocksDB gives a quarter, but at least one, to flushes"
    ]
