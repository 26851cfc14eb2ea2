"""What is wrong in a file, by file and line."""

from collections.abc import Iterable
from dataclasses import dataclass

from incidents.errors import UserError


@dataclass(frozen=True, slots=True, order=True)
class Fault:
    """One thing that is wrong: `file` as the user named it, `line` counted from 1, `message` in Korean."""

    file: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.message}"


class RecordError(UserError):
    """One or more files can't be read; `faults` holds all that was found, by file and line, never empty."""

    status = 400
    code = "bad_record"

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults: tuple[Fault, ...] = tuple(sorted(set(faults)))
        if not self.faults:
            raise ValueError("a RecordError needs a fault")
        super().__init__("\n".join(map(str, self.faults)))


MAX_FILE_FAULTS = 200  # nobody reads more, and a hostile file would fill the memory with them


class FaultList:
    """The faults of one file while it is read: reading goes on after a fault, so that one run shows them all."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.faults: list[Fault] = []

    def add(self, line: int, message: str) -> None:
        """Note a fault at `line`, counted from 1. What the message quotes from the file can't break its line.

        Raises RecordError when there are so many that reading on helps nobody.
        """
        shown = "".join(sign if sign.isprintable() else " " for sign in message)
        self.faults.append(Fault(self.file, line, shown))
        if len(self.faults) >= MAX_FILE_FAULTS:
            more = Fault(self.file, line, "고칠 곳이 너무 많아 여기서 멈췄습니다. 위의 것을 고친 뒤 다시 해 주십시오.")
            raise RecordError([*self.faults, more])

    def raise_if_any(self) -> None:
        """Raise RecordError when a fault was noted."""
        if self.faults:
            raise RecordError(self.faults)
