# SPDX-License-Identifier: MIT
"""The cases of a script: a table of functions by name."""

CASES = {}


def case(f):
    CASES[f.__name__] = f
    return f
