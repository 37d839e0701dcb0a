# SPDX-License-Identifier: MIT
"""Programs that a test compiles itself, with each compiler and linker of the machine."""

import os
import shutil

from lib import Run


def linkers():
    """Return the names for -fuse-ld."""
    return [l for l in ("bfd", "gold", "lld", "mold") if shutil.which("ld." + l) or shutil.which(l)]


def built(folder, argv, name="program"):
    """Return the path of the program that the compiler command argv makes; None if that fails."""
    path = os.path.join(folder, name)
    return path if shutil.which(argv[0]) and Run([*argv, "-o", path]).status == 0 else None
