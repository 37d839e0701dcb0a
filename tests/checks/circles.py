# SPDX-License-Identifier: MIT
"""Few units use each other in a circle, according to the symbols of a build's object files.

A unit is a source file. It uses another unit if it has an undefined symbol that the other unit
defines. LAYER=N allows circles of N units in that layer.

usage: circles.py SOURCE_DIR BUILD_DIR NM [LAYER=N]...
"""
import collections
import glob
import os
import re
import subprocess
import sys

from common import LAYERS, finish

MAX = 4  # units of a circle
OBJECT = re.compile(r".*/(\w+)/CMakeFiles/[^/]+\.dir/(.*)\.o$")
SYMBOL = re.compile(r"^(.*): (\S+) ([A-Z])\b", re.M)


def unit_of(path):
    """Return the source file of an object file."""
    layer, source = OBJECT.match(path).groups()
    return os.path.normpath(os.path.join(layer, source.replace("__/", "../")))


def uses(text):
    """Return {unit: {unit that it uses: symbols}} from what `nm -A -P` prints."""
    owner, wanted = {}, []
    for path, name, kind in SYMBOL.findall(text):
        unit = unit_of(path)
        if kind == "U":
            wanted.append((unit, name))
        else:
            owner[name] = unit
    graph = collections.defaultdict(lambda: collections.defaultdict(set))
    for unit, name in wanted:
        if owner.get(name, unit) != unit:
            graph[unit][owner[name]].add(name)
    return graph


def reached(graph, unit):
    """Return all units that @unit uses, directly or not."""
    seen, todo = set(), [unit]
    while todo:
        new = graph.get(todo.pop(), {}).keys() - seen
        seen |= new
        todo += new
    return seen


def check(text, limits):
    """Return a complaint for each circle that is too large, and its edges."""
    graph = uses(text)
    reach = {unit: reached(graph, unit) for unit in graph}
    circles = {tuple(sorted(v for v in reach[u] if u in reach.get(v, ()))) for u in graph if u in reach[u]}
    for circle in sorted(circles):
        limit = max(limits.get(unit.split("/")[0], MAX) for unit in circle)
        if len(circle) <= limit:
            continue
        yield f"{len(circle)} units use each other, at most {limit} may: {' '.join(circle)}"
        for unit in circle:
            for other in sorted(graph[unit].keys() & set(circle)):
                yield f"    {unit} -> {other}: {' '.join(sorted(graph[unit][other]))}"


def prove():
    """The check accepts a circle of MAX units, and reports a larger one."""
    def circle(n):
        objects = [f"/b/decode/CMakeFiles/x.dir/a/u{i}.c.o" for i in range(n)]
        return "".join(f"{o}: f{i} T 0 1\n{o}: local t 0 1\n{o}: f{(i + 1) % n} U\n{o}: puts U\n"
                       for i, o in enumerate(objects))

    if list(check(circle(MAX), {})) or list(check(circle(MAX + 1), {"decode": MAX + 1})):
        sys.exit("self-test: complains of what is right")
    if len(list(check(circle(MAX + 1), {"arch": 99}))) != MAX + 2:
        sys.exit("self-test: did not find a circle")


def main():
    root, build, nm, limits = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]
    limits = {layer: int(n) for layer, n in (limit.split("=") for limit in limits)}
    prove()
    objects = [o for layer in LAYERS for o in glob.glob(f"{build}/{layer}/CMakeFiles/*/**/*.c.o", recursive=True)]
    # A build folder also has objects of sources that are gone.
    objects = [o for o in objects if os.path.exists(os.path.join(root, unit_of(o)))]
    if not objects:
        sys.exit("nothing was checked")
    nm_output = subprocess.run([nm, "-A", "-P", *objects], check=True, text=True, capture_output=True).stdout
    finish(list(check(nm_output, limits)))


main()
