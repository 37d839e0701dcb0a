# SPDX-License-Identifier: MIT
"""Functions that are unsafe or hide their errors are not used at all.

usage: banned.py SOURCE_DIR
"""
import sys

from common import finish, grep, prove, sources

BANNED = ("strcpy", "stpcpy", "strcat", "strncpy", "strncat", "sprintf", "vsprintf", "strtok",
          "atoi", "atol", "atoll", "atof", "gets", "alloca", "mktemp", "tmpnam")
PATTERN = r"(?<![\w.>])(" + "|".join(BANNED) + r")\s*\("


def check(root):
    return [f"{path}:{line}: {m.group(1)} is banned"
            for path, line, m in grep(root, sources(root), PATTERN)]


GOOD = {
    "base/a.c": '/* strcpy(a, b) */\nconst char *s = "atoi(";\nint f(void) { return my_atoi(3); }\n'
                'void g(void) { snprintf(0, 0, ""); fgets(0, 0, 0); ops->gets(1); }\n',
}
BAD = [("tests/unit/base/bad.c", f"void f(void) {{\n\t{name} (0);\n}}\n") for name in BANNED]

prove(check, GOOD, BAD)
finish(check(sys.argv[1]), not sources(sys.argv[1]))
