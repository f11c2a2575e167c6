"""Every error the SDK raises on purpose, and those that your own code may raise.

    CurationSdkError
    ├── InvalidStage        a stage cannot run as it is declared
    ├── ContractViolation   a function broke its contract; its row is not failed for it
    ├── UnknownStage        no stage of this name was ever registered
    ├── UnknownItem         the stage's table has no such row
    ├── ClaimLost           another worker owns the item now
    ├── StageBroken         raise it: no item of this stage can succeed now
    ├── Permanent           raise it: this item can never succeed
    └── Transient           raise it: this item may succeed later

An exception class of your own takes part without inheriting from these: the attributes
`retryable`, `retry_after`, `pauses_stage` and `resume_after` mean the same on any class.
"""

from datetime import timedelta
from typing import ClassVar


class CurationSdkError(Exception):
    """The base of all errors of the SDK; `hint` says what to do about it, where known."""

    retryable: ClassVar[bool] = False

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        # In a traceback, in a log and in the error column alike.
        super().__init__(f"{message} {hint}" if hint else message)
        self.message = message
        self.hint = hint


class InvalidStage(CurationSdkError):
    """A stage cannot run as it is declared; nothing was started."""

    def __init__(self, stage: str, why: str, *, hint: str | None = None) -> None:
        super().__init__(f"Stage '{stage}' cannot run: {why}.", hint=hint)
        self.stage = stage


class ContractViolation(CurationSdkError):
    """A function did what the SDK cannot support; its row went back to the queue."""


class UnknownStage(CurationSdkError):
    """No stage of this name was ever registered in this database."""


class UnknownItem(CurationSdkError):
    """The stage's table has no such row, or it is not in the state asked for."""


class ClaimLost(CurationSdkError):
    """Another worker owns the item now; nothing of this attempt may be written."""

    retryable = True


class StageBroken(CurationSdkError):
    """The whole stage cannot work (bad key, provider down): it is paused.

    The item goes back to the queue, and no attempt is spent. With `resume_after` the
    stage resumes by itself; without it, someone must call `resume`.
    """

    pauses_stage: ClassVar[bool] = True

    def __init__(
        self,
        why: str,
        *,
        hint: str | None = None,
        resume_after: timedelta | None = None,
    ) -> None:
        super().__init__(why, hint=hint)
        self.resume_after = resume_after


class Permanent(CurationSdkError):
    """This item can never succeed: it fails at once, without another attempt."""


class Transient(CurationSdkError):
    """This item may succeed later: it is tried again after `retry_after`, or the backoff."""

    retryable = True

    def __init__(
        self,
        message: str,
        *,
        hint: str | None = None,
        retry_after: timedelta | None = None,
    ) -> None:
        super().__init__(message, hint=hint)
        self.retry_after = retry_after
