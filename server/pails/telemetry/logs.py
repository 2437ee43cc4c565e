"""The log: one JSON object a line, rotated by size, readable by this person only.

Lines are written where they are logged, not by a thread of their own: a line costs some
microseconds, and the ones just before a crash are those that matter.

    {"time": "2026-01-31T12:00:00.123Z", "level": "INFO", "logger": "pails.session.run",
     "message": "…", "trace_id": "…", "session_id": "…", "agent": "main", "exception": "…"}

Ids that nobody bound and an exception that did not happen are left out.
"""

import json
import logging
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path

from pails.core.text import join_surrogates
from pails.telemetry.secrets import mask

FILE_NAME = "pails.jsonl"
MAX_BYTES = 5_000_000
KEPT_FILES = 3

QUIET_LOGGERS = ("pygls", "httpx", "httpcore", "asyncio", "watchfiles")
"""Libraries that log whole message bodies or each request at INFO and below."""


@dataclass(frozen=True, slots=True)
class _Ids:
    trace_id: str | None = None
    session_id: str | None = None
    agent: str | None = None


_NO_IDS = _Ids()
_ids: ContextVar[_Ids] = ContextVar("pails_log_ids", default=_NO_IDS)


@contextmanager
def bind(
    *, trace_id: str | None = None, session_id: str | None = None, agent: str | None = None
) -> Generator[None]:
    """Lines logged inside, also by tasks started inside, carry these ids. None keeps the outer."""
    outer = _ids.get()
    token = _ids.set(
        _Ids(trace_id or outer.trace_id, session_id or outer.session_id, agent or outer.agent)
    )
    try:
        yield
    finally:
        _ids.reset(token)


def configure(log_dir: Path, level: str) -> tuple[str, ...]:
    """Send every logger's lines to `log_dir/pails.jsonl`; calling again replaces that file.

    `log_dir` must exist. Where the file cannot be written, lines go to standard error instead
    and the returned warning says so: a server without a log is better than none.
    """
    close()
    warnings: tuple[str, ...] = ()
    handler: logging.Handler
    try:
        handler = PrivateFileHandler(log_dir / FILE_NAME)
    except OSError as error:
        handler = logging.StreamHandler()
        why = error.strerror or error
        warnings = (f"{log_dir}: the log cannot be written ({why}); it goes to standard error.",)
    handler.setFormatter(JsonFormatter())
    handler.set_name(FILE_NAME)
    logging.getLogger().addHandler(handler)
    logging.getLogger().setLevel(level)
    for name in QUIET_LOGGERS:
        logging.getLogger(name).setLevel(logging.WARNING)
    return warnings


def close() -> None:
    """Take our handler off and close its file."""
    root = logging.getLogger()
    for handler in [handler for handler in root.handlers if handler.name == FILE_NAME]:
        root.removeHandler(handler)
        handler.close()


class PrivateFileHandler(RotatingFileHandler):
    """A rotating file that nobody else may read, from its first byte on.

    When the disk takes no more, that is said once on standard error, and lines are lost.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path, maxBytes=MAX_BYTES, backupCount=KEPT_FILES, encoding="utf-8")
        self._has_complained = False

    def handleError(self, record: logging.LogRecord) -> None:
        error = sys.exception()
        if isinstance(error, OSError):
            self._complain(error)
        else:
            super().handleError(record)

    def close(self) -> None:
        try:
            super().close()  # writes what is still in the buffer
        except OSError as error:
            self._complain(error)

    def _complain(self, error: OSError) -> None:
        if self._has_complained or not sys.stderr:
            return
        self._has_complained = True
        why = error.strerror or error
        with suppress(OSError):
            sys.stderr.write(f"pails: the log {self.baseFilename} cannot be written: {why}\n")
            sys.stderr.flush()

    def _open(self) -> TextIOWrapper:
        path = Path(self.baseFilename)
        path.touch(mode=0o600)
        path.chmod(0o600)
        return super()._open()


class JsonFormatter(logging.Formatter):
    """Renders a record as one masked, encodable line."""

    def format(self, record: logging.LogRecord) -> str:
        time = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        fields = {
            "time": time.replace("+00:00", "Z"),
            "level": record.levelname,
            "logger": record.name,
            "message": mask(record.getMessage()),
            **{name: value for name, value in asdict(_ids.get()).items() if value},
        }
        if record.exc_info:
            fields["exception"] = mask(self.formatException(record.exc_info))
        return join_surrogates(json.dumps(fields, ensure_ascii=False))
