#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""behave.py NAME: how `ptcap record` behaves towards its command, its user and its disk.

Each function of the modules behave_* with the decorator @case is a case; its name and text state
the behaviour. No case sleeps to be in time: a case waits for the program's own output, or for a
condition of /proc.
"""

import sys

# Each of these modules adds its cases to the table.
import behave_32bit
import behave_attach
import behave_context
import behave_file
import behave_limit
import behave_qemu
import behave_selftest
import behave_signal
import behave_snapshot
import behave_status

import lib
from cases import CASES

if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    lib.main(CASES)
