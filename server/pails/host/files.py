"""Reading and writing files. Every function blocks: call it in a thread.

A write is atomic and durable: a temporary file in the same folder, flushed to the disk, takes the
name of the old one. After a crash there is the old content or the new, never a mixture. Two cases
are written in place instead, because replacing the name would do harm, and are not atomic when the
machine dies half way: a file with several hard links, and a file in a folder we may not write to.

The temporary file that a killed process left behind is removed when its folder is written to an
hour later.
"""

import errno
import os
import stat
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Literal

from pails.core.errors import StorageError
from pails.host.leftovers import remove_temporary, temporary_name
from pails.host.paths import real_path

MAX_READ_BYTES = 50_000_000

# Names that some platforms lack.
_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
_NO_WAIT = getattr(os, "O_NONBLOCK", 0)
_BINARY = getattr(os, "O_BINARY", 0)


@dataclass(frozen=True, slots=True)
class Entry:
    """One name in a folder. `size` is in bytes, of files only; `target` is what a link says."""

    name: str
    kind: Literal["directory", "file", "link", "other"]
    size: int = 0
    target: str = ""


def exists(path: Path) -> bool:
    """Whether there is anything at the path."""
    return os.path.lexists(path)


def is_special(path: Path) -> bool:
    """Whether it is a pipe, a socket or a device, reading which could block for ever."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def changed_at(path: Path) -> float:
    """When the file was last written or put there, in seconds since 1970; 0 without a file.

    The time of a change of its data may be set by anybody, so that of its entry counts as well.
    """
    try:
        status = path.stat()
    except OSError:
        return 0.0
    return max(status.st_mtime, status.st_ctime)


def size(path: Path) -> int:
    """The bytes of the file at the path; 0 where there is none, or nobody may know."""
    try:
        return path.stat().st_size
    except (OSError, ValueError):  # ValueError: no path that a file can have
        return 0


def read_bytes(path: Path, limit: int = MAX_READ_BYTES) -> bytes:
    """The whole content of a regular file.

    Raises `OSError`: those of `open_regular`, and EFBIG for more than `limit` bytes.
    """
    with open_regular(path) as file:
        found = os.fstat(file.fileno()).st_size
        if found > limit:
            raise OSError(errno.EFBIG, f"has {found:,} bytes, more than {limit:,}", str(path))
        return file.read()


def open_regular(path: Path) -> BinaryIO:
    """A regular file, open for reading.

    Raises `OSError`: among others `IsADirectoryError`, and EINVAL for pipes, sockets and devices
    (reading one could block for ever).
    """
    # Without O_NONBLOCK, opening a named pipe that nobody writes to never returns.
    descriptor = os.open(path, os.O_RDONLY | _NO_WAIT | _BINARY)
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode):
        return os.fdopen(descriptor, "rb")
    os.close(descriptor)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, "is a directory", str(path))
    raise OSError(errno.EINVAL, "is not a regular file", str(path))


def list_folder(path: Path) -> list[Entry]:
    """The names in a folder, hidden ones too: directories first, then by name.

    Raises `OSError` when the folder cannot be read.
    """
    with os.scandir(path) as found:
        entries = [_entry(item) for item in found]
    return sorted(entries, key=lambda entry: (entry.kind != "directory", entry.name.lower()))


def _entry(item: "os.DirEntry[str]") -> Entry:
    try:
        if item.is_symlink():
            return Entry(item.name, "link", target=str(Path(item.path).readlink()))
        if item.is_dir(follow_symlinks=False):
            return Entry(item.name, "directory")
        status = item.stat(follow_symlinks=False)
    except OSError:  # it went away while we looked
        return Entry(item.name, "other")
    if stat.S_ISREG(status.st_mode):
        return Entry(item.name, "file", status.st_size)
    return Entry(item.name, "other")


def make_parents(path: Path) -> None:
    """Make the folders above `path`. Raises `StorageError`."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        why = reason(error)
        raise StorageError(f"{path.parent}: {why}. Nothing was written.", why) from error


def write_atomic(path: Path, data: bytes) -> None:
    """Make `data` the content of `path`, atomically and durably; see the module for exceptions.

    A link is written through to what it points at. Mode, owner and extended attributes of an
    existing file are kept as far as we may; a new file gets its mode from the umask.
    Raises `StorageError`; the old content is then intact.
    """
    try:
        target = _write_target(path)
        existing = _status(target)
        remove_temporary(target.parent)
        if existing is None:
            _replace(target, data, None)
        elif existing.st_nlink > 1 or not os.access(target.parent, os.W_OK):
            _write_in_place(target, data)
        else:
            _replace(target, data, existing)
    except OSError as error:
        why = reason(error)
        raise StorageError(
            f"{path}: {why}. Nothing was written, the file is as it was.", why
        ) from error


def write_private(path: Path, data: bytes) -> None:
    """Make a new file that only this person can read. Raises `StorageError`; there is then none."""
    make_parents(path)
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, 0o600)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
        except BaseException:
            with suppress(OSError):
                path.unlink()
            raise
    except OSError as error:
        raise StorageError(f"{path}: {reason(error)}. It was not written.") from error


def _write_target(path: Path) -> Path:
    target = real_path(path)
    if target is None:
        raise OSError(errno.ELOOP, "is a link that leads in a circle")
    if path.is_symlink() and not target.exists():
        # Whoever judged the path saw no file there; following would make one somewhere else.
        raise OSError(errno.ENOENT, f"is a link to {target}, which does not exist")
    return target


def _status(target: Path) -> os.stat_result | None:
    """What is there now, or None. Raises `OSError` for what must not be written over."""
    try:
        status = target.lstat()
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, "is a directory")
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "is not a regular file")
    if not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, "is read-only")
    return status


def _replace(target: Path, data: bytes, existing: os.stat_result | None) -> None:
    temporary = target.parent / temporary_name()
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_FOLLOW | _BINARY
    # Until it has the old file's mode, nobody else may look into the copy of a private file.
    descriptor = os.open(temporary, flags, 0o666 if existing is None else 0o600)
    try:
        try:
            _write_all(descriptor, data)
            if existing is not None:
                _keep_metadata(descriptor, target, existing)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        temporary.replace(target)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
    flush_folder(target.parent)


def _write_in_place(target: Path, data: bytes) -> None:
    """Overwrite the file's own blocks; on an error put the old bytes back, which needs no space."""
    old = target.read_bytes()
    descriptor = os.open(target, os.O_WRONLY | _NO_FOLLOW | _BINARY)
    try:
        try:
            _overwrite(descriptor, data)
        except OSError:
            _overwrite(descriptor, old)
            raise
    finally:
        os.close(descriptor)


def _overwrite(descriptor: int, data: bytes) -> None:
    os.lseek(descriptor, 0, os.SEEK_SET)
    _write_all(descriptor, data)
    os.ftruncate(descriptor, len(data))
    os.fsync(descriptor)


def _write_all(descriptor: int, data: bytes) -> None:
    """Write every byte; the system may take fewer than offered at a time."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _keep_metadata(descriptor: int, target: Path, existing: os.stat_result) -> None:
    if sys.platform == "win32":
        return
    # The owner first: changing it clears the set-user-id bits of the mode.
    with suppress(PermissionError):
        os.fchown(descriptor, existing.st_uid, existing.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(existing.st_mode))
    if sys.platform != "linux":
        return
    with suppress(OSError):
        for name in os.listxattr(target):
            with suppress(OSError):
                os.setxattr(descriptor, name, os.getxattr(target, name))


def flush_folder(folder: Path) -> None:
    """Make the new name durable. The content is in place already, so a failure changes nothing."""
    if sys.platform == "win32":
        return
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def reason(error: OSError) -> str:
    """The system's word alone, such as "No space left on device"."""
    return error.strerror or str(error)
