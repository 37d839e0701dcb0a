# SPDX-License-Identifier: MIT
"""Programs that a test compiles itself, with each compiler and linker of the machine."""

import os
import shutil

from lib import Run


def linkers():
    """The names for -fuse-ld."""
    return [l for l in ("bfd", "gold", "lld", "mold") if shutil.which("ld." + l) or shutil.which(l)]


def built(folder, argv, name="program"):
    """Returns the path of the program that the compiler command argv makes; None if it cannot make one."""
    path = os.path.join(folder, name)
    return path if shutil.which(argv[0]) and Run([*argv, "-o", path]).status == 0 else None
