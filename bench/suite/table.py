# SPDX-License-Identifier: MIT
"""Rows and Markdown tables of bench/all."""
import statistics
from dataclasses import asdict, dataclass, field

COLUMNS = ("ptcap", "peer", "ratio", "wanted", "limit", "of the limit")


@dataclass
class Row:
    """One line of a table. @ours and @peers have a value for each pair."""
    name: str
    unit: str  # s, MB/s, ns
    ours: list
    peers: list = field(default_factory=list)
    limit: float = None  # in @unit
    more: bool = True  # the ratio tells how many times as fast; otherwise: how many times the time
    wanted: str = ""
    remark: str = ""  # printed below the table
    note: str = ""  # for the JSON file only

    def ratio(self):
        """Returns the median of the pairs' ratios, or None."""
        if not self.peers:
            return None
        faster = self.more == (self.unit != "MB/s")  # peers / ours
        return statistics.median(p / o if faster else o / p for o, p in zip(self.ours, self.peers))

    def part(self):
        """Returns the reached part of the limit, or None."""
        if not self.limit:
            return None
        mid = statistics.median(self.ours)
        return mid / self.limit if self.unit == "MB/s" else self.limit / mid

    def raw(self):
        return {**asdict(self), "ratio": self.ratio(), "part": self.part()}


def number(value, unit):
    if value is None:
        return ""
    digits = 0 if value >= 100 else 1 if value >= 10 else 2
    if unit == "s" and value < 1:
        digits = 3
    return f"{value:,.{digits}f} {unit}"


def line(row):
    """Returns the row as a line of a Markdown table."""
    ratio, part = row.ratio(), row.part()
    middle = [statistics.median(v) if v else None for v in (row.ours, row.peers)]
    times = "" if ratio is None else f"{ratio:.{2 if ratio < 10 else 1}f} times {'as fast' if row.more else 'the time'}"
    reached = "" if part is None else f"{part * 100:.{0 if part >= 0.1 else 1}f} %"
    cells = [row.name, *(number(v, row.unit) for v in middle), times, row.wanted, number(row.limit, row.unit), reached]
    return "| " + " | ".join(cells) + " |"


def head(question):
    """Returns the two lines above the rows."""
    return f"| {question} | " + " | ".join(COLUMNS) + " |\n|" + "---|" * (len(COLUMNS) + 1)
