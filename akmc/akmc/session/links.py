"""Whether a link leads from a target out of its bundle, asked of each folder once for the length of one check."""

from __future__ import annotations

import os

from akmc.session.targets import Target


class Links:
    """Where links led when they were first asked about: keep one no longer than a check, for links may be changed."""

    def __init__(self) -> None:
        self._folders: dict[str, str] = {}
        self._answers: dict[Target, bool] = {}

    def escape(self, target: Target) -> bool:
        """Whether a link leads from the target, which is named inside its bundle, to a file outside.

        A link that leads nowhere does not. A file outside every family folder is its bundle's only by the folder that
        it was asked from, so that only a link at the file itself counts there.
        """
        known = self._answers.get(target)
        if known is None:
            known = self._answers[target] = self._escapes(target)
        return known

    def _escapes(self, target: Target) -> bool:
        is_link = target.path.is_symlink()
        if not target.ref and (not is_link or target.bundle.relative(target.path) is None):
            return False
        if not is_link:
            folder, root = self._real(os.path.dirname(target.path)), self._real(str(target.bundle.root))  # noqa: PTH120
            if folder == root or folder.startswith(root.rstrip(os.sep) + os.sep):
                return False
        return not target.bundle.contains(target.path) and target.path.exists()

    def _real(self, folder: str) -> str:
        if folder not in self._folders:
            self._folders[folder] = os.path.realpath(folder)
        return self._folders[folder]
