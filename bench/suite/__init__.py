# SPDX-License-Identifier: MIT
"""Parts of bench/all: running programs, rows of tables, recordings, and a file for each group of questions."""
