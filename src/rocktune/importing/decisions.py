"""Decides the fate of each option as far as that is possible without the linked RocksDB."""

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from rocktune.importing.document import Family, Option, OptionsDocument, SubOption
from rocktune.importing.examination import LinkedRocksDb
from rocktune.importing.history import Gone, gone_options, introduced_in, introductions
from rocktune.importing.objects import OVERRIDDEN, STAND_INS, TIMESTAMPED
from rocktune.importing.translations import FamilyTexts, carried_over, respelt
from rocktune.importing.values import rendered
from rocktune.options_account import Fate

BLOCK_BASED = "BlockBasedTable"
_TITLES = {"db": "DBOptions", "cf": "CFOptions", "table": f"TableOptions/{BLOCK_BASED}"}
_SPELLING = 0.9
"""Similarity, by difflib, from which an unknown name counts as another one misspelt. Names of forks are less
similar: Speedb's `use_spdb_writes` has 0.75 to `use_direct_writes`."""


@dataclass
class Decision:
    """The fate of one option of the file. RocksDB's answers change it.

    Attributes:
        section: "db", "cf" or "table".
        option: the option.
        fate: the fate decided so far.
        value: as `AccountEntry.value`.
        why: as `AccountEntry.why`.
        target: section and name of the option to give to RocksDB; None to give it none.
        text: value to give to RocksDB.
        parts: fate, value and reason of settings inside the braces, by path below the option's name. Other
            settings share the option's fate.
    """

    section: str
    option: Option
    fate: Fate = Fate.USED
    value: str = ""
    why: str = ""
    target: tuple[str, str] | None = None
    text: str = ""
    parts: dict[str, tuple[Fate, str, str]] = field(default_factory=dict)

    def drop(self, fate: Fate, why: str, value: str = "") -> None:
        """Decides that the option is not given to RocksDB."""
        self.fate, self.why, self.value, self.target = fate, why, value, None

    def give(self, text: str, fate: Fate, why: str, target: tuple[str, str] | None = None) -> None:
        """Decides that RocksDB gets a value other than the file's, or another option."""
        self.target = target or (self.section, self.option.name)
        self.fate, self.why, self.text = fate, why, text
        self.value = text if self.target == (self.section, self.option.name) else f"{self.target[1]}={text}"


def decisions_of(document: OptionsDocument, family: Family, linked: LinkedRocksDb) -> list[Decision]:
    """Returns what is decided of [DBOptions] and of a family's options, in the file's order."""
    made = [Decision(section, option) for section, option in _options_of(document, family)]
    first: dict[tuple[str, str], Decision] = {}
    for decision in made:
        kept = first.setdefault((decision.section, decision.option.name), decision)
        if kept is not decision:
            why = f"given twice; RocksDB keeps the value of line {kept.option.line}"
            decision.drop(Fate.WITHOUT_EFFECT, why)
    texts = FamilyTexts({key: each.option.text for key, each in first.items()}, linked)
    foreign_table = family.table_format not in (None, BLOCK_BASED)
    for key, decision in first.items():
        if foreign_table and decision.section == "table":
            why = f"an option of table format {family.table_format}; measured is {BLOCK_BASED}"
            decision.drop(Fate.FOREIGN, why)
        else:
            _decide(decision, key, texts)
    return made


def _options_of(document: OptionsDocument, family: Family) -> Iterator[tuple[str, Option]]:
    for section, options in (("db", document.db), ("cf", family.options), ("table", family.table)):
        for option in options:
            yield section, option


def _decide(decision: Decision, key: tuple[str, str], texts: FamilyTexts) -> None:
    section, option, linked = decision.section, decision.option, texts.linked
    if key in OVERRIDDEN:
        decision.drop(Fate.OVERRIDDEN, OVERRIDDEN[key])
        return
    if key == ("db", "allow_mmap_reads") and option.text in ("true", "1"):
        decision.give("false", Fate.OVERRIDDEN, "no device can be kept to with memory maps")
        return
    if key == ("cf", "comparator") and option.text.endswith(TIMESTAMPED):
        decision.drop(Fate.FOREIGN, f"its keys carry timestamps; {STAND_INS[key].what}")
        return
    gone = gone_options().get(f"{section}.{option.name}")
    if gone is not None and not linked.knows(section, option.name):
        _replace(decision, gone, texts)
        return
    new = respelt(section, option, linked)
    if new is not None:
        decision.give(new.text, Fate.TRANSLATED, new.why)
        return
    decision.target, decision.text = key, option.text
    _drop_unknown_parts(decision, linked)


def _replace(decision: Decision, gone: Gone, texts: FamilyTexts) -> None:
    """Carries a gone option's value over to the one in its place, or says that it has no effect."""
    section, name = decision.section, decision.option.name
    since = f"no effect since RocksDB {gone.since}"
    reason = f"{since}: {gone.note}" if gone.note else since
    if not gone.now:
        decision.drop(Fate.WITHOUT_EFFECT, reason)
        return
    new_section, new_name = gone.now.split(".", 1)
    if (new_section, new_name) in texts.given:
        decision.drop(Fate.WITHOUT_EFFECT, f"{reason}; the file gives {new_name} itself")
        return
    text = carried_over(f"{section}.{name}", decision.option.text, texts)
    if text is None:
        decision.drop(Fate.WITHOUT_EFFECT, f"{reason}; its place has {new_name}")
        return
    note = f"; {gone.note}" if gone.note else ""
    decision.give(
        text, Fate.TRANSLATED, f"named {new_name} since RocksDB {gone.since}{note}", (new_section, new_name)
    )


def _drop_unknown_parts(decision: Decision, linked: LinkedRocksDb) -> None:
    """Leaves out settings inside braces that the linked RocksDB does not have.

    RocksDB refuses the whole option for one of them. Objects (`{id=...;}`) have settings of their own class,
    which the defaults do not show; RocksDB is asked about those.
    """
    option = decision.option
    known = linked.default_parts(decision.section, option.name)
    # A block cache is an object without an id.
    if (
        option.name == "block_cache"
        or not known
        or "id" in known
        or any(part.name in ("id", "[0]") for part in option.parts)
    ):
        return
    kept, seen = [], set()
    for part in option.parts:
        if part.name in seen:
            decision.parts[part.name] = (Fate.WITHOUT_EFFECT, "", "given twice; RocksDB keeps one of them")
        elif part.name in known:
            kept.append(part)
        else:
            decision.parts[part.name] = _missing_part(decision, part)
        seen.add(part.name)
    if len(kept) < len(option.parts):
        decision.text = rendered(tuple(kept))
        if not kept:  # RocksDB refuses empty braces
            decision.drop(Fate.WITHOUT_EFFECT, f"RocksDB {linked.version} has none of its settings")


def _missing_part(decision: Decision, part: SubOption) -> tuple[Fate, str, str]:
    path = f"{decision.section}.{decision.option.name}"
    gone = gone_options().get(f"{path}.{part.name}")
    if gone is not None:
        return Fate.WITHOUT_EFFECT, "", f"no effect since RocksDB {gone.since}"
    return Fate.UNKNOWN, "", unknown_reason(f"{path}.{part.name}")


def unknown_reason(path: str) -> str:
    """Returns why the linked RocksDB does not know an option, and what may be meant instead.

    Args:
        path: section, name and settings, such as "cf.compression_opts.checksum".
    """
    release = introduced_in(path)
    if release is not None:
        return f"it came with RocksDB {release}"
    holder, _, name = path.rpartition(".")
    elsewhere = [title for section, title in _TITLES.items() if introduced_in(f"{section}.{name}")]
    if holder in _TITLES and elsewhere:
        return f"it belongs in the section [{elsewhere[0]}]"
    reason = "no RocksDB up to 11.8 writes an option of this name"
    siblings = [each.rpartition(".")[2] for each in introductions() if each.rpartition(".")[0] == holder]
    nearest = difflib.get_close_matches(name, siblings, n=1, cutoff=_SPELLING)
    return f"{reason}; did you mean '{nearest[0]}'?" if nearest else reason


def gone_parts(
    decisions: list[Decision], given: Mapping[tuple[str, str], str], linked: LinkedRocksDb
) -> None:
    """Carries settings over that became options of their own, such as the TTL of FIFO compaction."""
    texts = FamilyTexts(given, linked)
    for decision in decisions:
        for part in decision.option.parts:
            path = f"{decision.section}.{decision.option.name}.{part.name}"
            gone = gone_options().get(path)
            if gone is None or not gone.now or part.name not in decision.parts:
                continue
            target = gone.now.split(".", 1)
            text = carried_over(path, part.text, texts)
            if text is not None and (target[0], target[1]) not in given:
                why = f"named {target[1]} since RocksDB {gone.since}"
                decision.parts[part.name] = (Fate.TRANSLATED, f"{target[1]}={text}", why)
