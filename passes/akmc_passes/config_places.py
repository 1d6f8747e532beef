"""Where configs are looked for. Reading one is ``config``, which a check without any does not load."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path as FilePath
from typing import Final

from akmc_passes.paths import absolute

FOLDER: Final = ".akm"
FILE: Final = "config.json"
MODELS: Final = "models.json"


def project_config(start: FilePath) -> FilePath | None:
    """The nearest ``.akm/config.json`` from the folder ``start`` upwards."""
    named = absolute(start)
    for folder in (named, *named.parents):
        if os.path.lexists(candidate := folder / FOLDER / FILE):
            return candidate
    return None


def user_folder(environ: Mapping[str, str], platform: str = sys.platform) -> FilePath:
    """The user's folder of settings: ``$AKM_CONFIG_DIR``, else ``akm`` in the platform's config folder."""
    if named := environ.get("AKM_CONFIG_DIR"):
        return FilePath(named)
    home = FilePath(environ.get("HOME") or environ.get("USERPROFILE") or FilePath.home())
    if platform == "darwin":
        return home / "Library" / "Application Support" / "akm"
    if platform == "win32":
        return FilePath(environ.get("APPDATA") or home / "AppData" / "Roaming") / "akm"
    return FilePath(environ.get("XDG_CONFIG_HOME") or home / ".config") / "akm"


def may_have_config(start: FilePath, environ: Mapping[str, str] | None = None) -> bool:
    """Whether a source in the folder ``start`` may have a config. A place that cannot be looked into may: reading it
    says what is wrong."""
    if project_config(start) is not None:
        return True
    try:
        (user_folder(os.environ if environ is None else environ) / FILE).stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    return True
