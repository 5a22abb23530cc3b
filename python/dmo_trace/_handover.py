"""What plans and placements hand over: files, and themselves to be verified."""

from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING, Any

from ._words import Path

if TYPE_CHECKING:
    from ._verify import Verification


class HandedOver:
    """A plan that can be written, and run."""

    def content(self, name: Path) -> bytes:
        """The content of a file of this name."""
        raise NotImplementedError

    def emit(self, path: Path) -> None:
        """Writes that file, whole or not at all."""
        content = self.content(path)
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

    def verify(self, **options: Any) -> "Verification":
        """Runs the model in this plan: :func:`dmo_trace.verify` of it."""
        from ._verify import verify

        return verify(self, **options)
