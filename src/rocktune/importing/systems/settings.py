"""The settings of a system's file, and their way to an OPTIONS document."""

import difflib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from rocktune.importing.document import Family, LeftOut, Option, OptionsDocument, OptionsFileError
from rocktune.importing.history import introductions
from rocktune.importing.values import UnbalancedBracesError, parts_of
from rocktune.systems.rules import Named, Rule
from rocktune.systems.values import Codec, NotExpressibleError, decimal, switch

_SECTIONS = ("db", "cf", "table")


@dataclass(frozen=True)
class Setting:
    """One setting of a system's file.

    Attributes:
        name: as the file spells it.
        text: its value, without quotes.
        line: number of its line, from 1.
    """

    name: str
    text: str
    line: int

    @property
    def spelling(self) -> str:
        """The setting as the account shows it."""
        return f"{self.name}={self.text}"


@dataclass(frozen=True)
class Reading:
    """An option that settings of the file amount to.

    Attributes:
        option: RocksDB's name.
        text: value in RocksDB's notation.
        settings: the settings that were read, at least one.
    """

    option: str
    text: str
    settings: tuple[Setting, ...]


@dataclass
class Collected:
    """The options of a system's file, as they are read.

    Attributes:
        system: name of the system.
        path: how messages name the file.
        db: readings for the database and for all column families.
        families: readings of each column family, by name; empty for a file that knows only one.
        left_out: settings that are not used.
        own: number of settings that are not RocksDB's.
        fixed: options that the system sets itself, by name.
        shared_cache: True if all column families share one block cache.
        notes: sentences about the file.
    """

    system: str
    path: str
    db: list[Reading] = field(default_factory=list)
    families: dict[str, list[Reading]] = field(default_factory=dict)
    left_out: list[LeftOut] = field(default_factory=list)
    own: int = 0
    fixed: Mapping[str, str] = field(default_factory=dict)
    shared_cache: bool = False
    notes: list[str] = field(default_factory=list)

    def refused(self, setting: Setting, problem: str) -> OptionsFileError:
        """Returns the error for a setting that cannot be read."""
        return OptionsFileError(
            f"options file {self.path}: line {setting.line}: {setting.name}: '{setting.text}' {problem}"
        )

    def leave_out(self, setting: Setting, why: str) -> None:
        """Records that a setting is not used."""
        self.left_out.append(LeftOut(setting.name, setting.text, setting.line, why))

    def once(self, settings: Iterable[Setting]) -> dict[str, Setting]:
        """Returns settings by name.

        Raises:
            OptionsFileError: a name comes twice.
        """
        found: dict[str, Setting] = {}
        for setting in settings:
            first = found.setdefault(setting.name, setting)
            if first is not setting:
                raise OptionsFileError(
                    f"options file {self.path}: line {setting.line}: {setting.name} comes twice, the first "
                    f"time in line {first.line}; leave one out"
                )
        return found

    def read(
        self,
        settings: Mapping[str, Setting],
        rules: Mapping[str, Rule],
        special: Mapping[str, Callable[[str], dict[str, str]]],
    ) -> list[Reading]:
        """Returns the options of settings. Those without a rule are left out, with the nearest name.

        Args:
            settings: settings by name.
            rules: the system's rules by option.
            special: for settings without a plain rule, what returns options and values for their text.

        Raises:
            OptionsFileError: a value is not in the system's notation.
        """
        known = {
            rule.name: (option, rule.writer)
            for option, rule in reversed(tuple(rules.items()))
            if isinstance(rule, Named) and isinstance(rule.writer, Codec)
        }
        found: list[Reading] = []
        for name, setting in settings.items():
            try:
                if name in special:
                    made = special[name](setting.text)
                elif name in known:
                    option, codec = known[name]
                    made = {option: codec.read(setting.text)}
                else:
                    self.leave_out(setting, unmapped(name, {*known, *special}))
                    continue
            except NotExpressibleError as error:
                raise self.refused(setting, str(error)) from None
            found += [Reading(option, text, (setting,)) for option, text in made.items()]
        return found

    def document(self) -> OptionsDocument:
        """Returns the OPTIONS document that the file amounts to.

        Raises:
            OptionsFileError: nothing in the file is an option of RocksDB.
        """
        if not self.db and not any(self.families.values()):
            raise OptionsFileError(
                f"options file {self.path}: it is a file of {self.system} without a setting of RocksDB"
            )
        common = [each for each in self.db if section_of(each.option) != "db"]
        families = []
        for name, own in (self.families or {"default": []}).items():
            named = {each.option for each in own}
            options = [*own, *(each for each in common if each.option not in named)]
            families.append(self._family(name, options))
        plain = "settings are" if self.own != 1 else "setting is"
        notes = [f"Read as a file of {self.system}."]
        if self.own:
            notes.append(f"{self.own} of its {plain} not RocksDB's.")
        return OptionsDocument(
            path=self.path,
            rocksdb_version="",
            by_rocksdb=False,
            version=(),
            db=self._options([each for each in self.db if section_of(each.option) == "db"], "db"),
            families=tuple(families),
            left_out=tuple(self.left_out),
            notes=(*notes, *self.notes),
            shared_cache=self.shared_cache,
        )

    def _family(self, name: str, readings: list[Reading]) -> Family:
        lines = [setting.line for each in readings for setting in each.settings]
        return Family(
            name,
            min(lines, default=0),
            self._options(readings, "cf"),
            "BlockBasedTable",
            self._options(readings, "table"),
        )

    def _options(self, readings: list[Reading], section: str) -> tuple[Option, ...]:
        """Returns the options of a section: those of the file, then what the system sets itself."""
        found = []
        given = {each.option for each in readings}
        for each in readings:
            if section_of(each.option) == section:
                spelling = ", ".join(setting.spelling for setting in each.settings)
                found.append(self._option(each.option, each.text, each.settings[0], spelling))
        for option, text in self.fixed.items():
            if option not in given and section_of(option) == section:
                spelling = f"{self.system} sets it itself"
                found.append(self._option(option, text, Setting(option, text, 0), spelling))
        return tuple(found)

    def _option(self, name: str, text: str, setting: Setting, spelling: str) -> Option:
        try:
            return Option(name, text, setting.line, parts_of(text), spelling)
        except UnbalancedBracesError as error:
            raise self.refused(setting, f"is malformed: {error}") from None


def bloom_filter(
    file: Collected, switched: Setting | None, bits: Setting | None, on_by_default: bool
) -> Reading:
    """Returns the filter policy of two settings: whether there is a Bloom filter, and its bits per key.

    Raises:
        OptionsFileError: a value is neither true nor false, or no number.
    """
    given = tuple(each for each in (switched, bits) if each is not None)
    on, per_key = on_by_default, "10"
    for setting in given:
        try:
            if setting is switched:
                on = switch().read(setting.text) == "true"
            else:
                per_key = decimal.read(setting.text)
        except NotExpressibleError as error:
            raise file.refused(setting, str(error)) from None
    return Reading("filter_policy", f"bloomfilter:{per_key}:false" if on else "nullptr", given)


def unmapped(name: str, known: Iterable[str]) -> str:
    """Returns the reason for leaving out a setting without a rule, with the nearest known name."""
    nearest = difflib.get_close_matches(name, sorted(known), n=1, cutoff=0.85)
    hint = f"; did you mean '{nearest[0]}'?" if nearest else ""
    return f"rocktune knows no RocksDB option for it{hint}"


def section_of(option: str) -> str:
    """Returns the section of a RocksDB option: "db", "cf" or "table"; "cf" for a name that none has."""
    return next((each for each in _SECTIONS if f"{each}.{option}" in introductions()), "cf")


def is_option(name: str) -> bool:
    """Returns whether some RocksDB has an option of this name."""
    return any(f"{section}.{name}" in introductions() for section in _SECTIONS)
