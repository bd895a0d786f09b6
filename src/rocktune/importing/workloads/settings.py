"""The settings of a description while they are read: typed access, and a use for each."""

import math
import re
from collections.abc import Iterable, Mapping

from rocktune.errors import UserError
from rocktune.importing.systems.settings import Setting
from rocktune.importing.workloads.account import Use, WorkloadEntry

INT_MAX = (1 << 31) - 1
"""Maximum of Java's int and of gflags' int32."""
COUNT_MAX = (1 << 62) - 1
"""Maximum of a workload's whole numbers."""


class ReadSettings:
    """The settings of a description. What is read counts as used unless `tell` says otherwise.

    Attributes:
        where: the description, as messages name it.
        prefix: what stands before a name in messages, such as "--".
        assumed: sentences for `ImportedWorkload.assumed`.
        warnings: sentences for `ImportedWorkload.warnings`.
    """

    def __init__(self, where: str, settings: Iterable[Setting], prefix: str = "") -> None:
        """Keeps the last setting of each name, as YCSB and db_bench do.

        Args:
            where: the description, as messages name it.
            settings: in the order in which later ones win.
            prefix: what stands before a name in messages.
        """
        self.where, self.prefix = where, prefix
        self.assumed: list[str] = []
        self.warnings: list[str] = []
        self._settings = list(settings)
        self._given: dict[str, Setting] = {each.name: each for each in self._settings}
        self._uses: dict[str, WorkloadEntry] = {}

    def __contains__(self, name: str) -> bool:
        """Whether a setting is given."""
        return name in self._given

    @property
    def unread(self) -> list[Setting]:
        """The settings that nothing has read yet, in their order."""
        return [each for name, each in self._given.items() if name not in self._uses]

    def tell(self, name: str, use: Use, becomes: str = "", why: str = "") -> None:
        """States the use of a setting; nothing if it is not given."""
        if name in self._given:
            self._uses[name] = WorkloadEntry(name, self._given[name].text, use, becomes, why)

    def used_as(self, becomes: str, *names: str) -> None:
        """States the field that settings became, unless a use other than `used` was stated before."""
        for name in names:
            entry = self._uses.get(name)
            if entry is None or entry.use is Use.USED:
                self.tell(name, Use.USED, becomes)

    def text(self, name: str, default: str) -> str:
        """Returns a setting's text; the default if it is absent."""
        if name not in self._given:
            return default
        if name not in self._uses:
            self.tell(name, Use.USED)
        return self._given[name].text

    def choice(self, name: str, default: str, choices: Iterable[str]) -> str:
        """Returns a setting's word.

        Raises:
            UserError: it is not among `choices`.
        """
        found, known = self.text(name, default), tuple(choices)
        if found not in known:
            raise self.refused(name, f"is unknown; use one of {', '.join(known)}")
        return found

    def whole(self, name: str, default: int, low: int = 0, high: int = COUNT_MAX) -> int:
        """Returns a whole number, in decimal notation or as 0x10.

        Raises:
            UserError: it is no whole number from `low` to `high`.
        """
        text = self.text(name, str(default)).strip()
        if re.fullmatch(r"[+-]?\d{1,40}", text, re.ASCII):
            value = int(text)
        elif re.fullmatch(r"0[xX][0-9a-fA-F]{1,32}", text):
            value = int(text, 16)
        else:
            raise self.refused(name, "is no whole number")
        if not low <= value <= high:
            raise self.refused(name, f"is not from {low} to {high}")
        return value

    def number(self, name: str, default: float, low: float = -math.inf, high: float = math.inf) -> float:
        """Returns a finite number.

        Raises:
            UserError: it is no number from `low` to `high`.
        """
        text = self.text(name, repr(default)).strip()
        # float() alone would also accept "nan", "inf" and "1_000".
        if not re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,4})?", text, re.ASCII):
            raise self.refused(name, "is no number")
        value = float(text)
        if not math.isfinite(value) or not low <= value <= high:
            raise self.refused(name, f"is not from {low:g} to {high:g}")
        return value

    def switch(self, name: str, default: bool, words: Mapping[str, bool]) -> bool:
        """Returns a setting that is on or off.

        Args:
            name: name of the setting.
            default: the value without one.
            words: value of each word in lower case.

        Raises:
            UserError: it is another word.
        """
        if name not in self._given:
            return default
        found = words.get(self.text(name, "").strip().lower())
        if found is None:
            raise self.refused(name, "is neither true nor false")
        return found

    def entries(self) -> tuple[WorkloadEntry, ...]:
        """Returns the use of each setting. One that is given again later is without effect."""
        made = []
        for each in self._settings:
            if self._given[each.name] is each:
                made.append(self._uses[each.name])
            else:
                why = "a later one counts"
                made.append(WorkloadEntry(each.name, each.text, Use.WITHOUT_EFFECT, why=why))
        return tuple(made)

    def refused(self, name: str, what: str) -> UserError:
        """Returns the error for a setting's value.

        Args:
            name: name of the setting; it may be absent.
            what: the rest of the sentence after the value, such as "is no number".
        """
        setting = self._given.get(name)
        if setting is None:
            return UserError(f"{self.where}: {self.prefix}{name}: {what}")
        return UserError(f"{self.where}{self._place(setting)}: {self.prefix}{name}: '{setting.text}' {what}")

    def _place(self, setting: Setting) -> str:
        """Returns where a setting stands; empty for one of a command line."""
        return f", line {setting.line}" if setting.line else ""
