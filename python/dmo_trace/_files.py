"""Files that are written."""

from __future__ import annotations

import os
import tempfile

from ._words import Path


def write_whole(path: Path, content: bytes) -> None:
    """Writes a file, whole or not at all."""
    folder, name = os.path.split(os.path.abspath(os.fspath(path)))
    handle, unfinished = tempfile.mkstemp(prefix=f".{name}-", dir=folder)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(unfinished, 0o666 & ~umask)
        os.replace(unfinished, path)
    except BaseException:
        os.unlink(unfinished)
        raise
