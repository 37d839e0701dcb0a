#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Names and code of real JITs: node and java, if installed. A hot function is listed by its name.

usage: runtimes.py CASE
"""

import os
import re
import shutil
import subprocess

import jitdump
import lib
from lib import PTCAP, Run, check

TURNS, ROUNDS = 20, 20000  # of the hot function, which is compiled long before its last call
JS = """
function hotFunction(n) { let s = 0; for (let i = 0; i < n; i++) s = (s * 31 + i) | 0; return s; }
let t = 0;
for (let k = 0; k < TURNS; k++) t ^= hotFunction(ROUNDS);
console.log("sum", t);
"""
JS_FOREVER = """
function hotFunction(n) { let s = 0; for (let i = 0; i < n; i++) s = (s * 31 + i) | 0; return s; }
for (let k = 0; k < TURNS; k++) hotFunction(ROUNDS);
console.log("ready");
for (;;) hotFunction(ROUNDS);
"""
JAVA = """
public class Hot {
  static int hotFunction(int n) { int s = 0; for (int i = 0; i < n; i++) s = s * 31 + i; return s; }
  public static void main(String[] a) {
    int t = 0;
    for (int k = 0; k < TURNS; k++) t ^= hotFunction(ROUNDS);
    System.out.println("sum " + t);
  }
}
"""
# The thread that requests the code compiles it: otherwise the load decides when the code is ready.
NODE = ["node", "--no-concurrent-recompilation"]
JAVA_OPTIONS = ["-Xbatch", "-XX:+UseSerialGC", "-XX:+UnlockDiagnosticVMOptions", "-XX:+DumpPerfMapAtExit"]
ENV = {k: v for k, v in os.environ.items() if not k.startswith(("NODE_", "JAVA_", "JDK_"))}


def need(*programs):
    for name in programs:
        if not shutil.which(name):
            lib.skip(f"no {name} here")


def write(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="ascii") as f:
        f.write(text.replace("TURNS", str(TURNS)).replace("ROUNDS", str(ROUNDS)))
    return path


def recorded(folder, argv):
    """Record from the beginning; the program prints the same as alone."""
    path = os.path.join(folder, "perf.data")
    with subprocess.Popen(argv, cwd=folder, env=ENV, stdout=subprocess.PIPE, text=True) as bare:
        out = bare.stdout.read()
    check(bare.returncode == 0, f"{argv}: exit status {bare.returncode}")
    remove_map(bare.pid)
    r = lib.record(path, argv, cwd=folder, env=ENV).expect(0)
    check(r.out == out, f"it prints {r.out!r}, not {out!r}")
    return path


def remove_map(pid):
    """Remove the map file of a runtime."""
    path = f"/tmp/perf-{pid}.map"
    if os.path.exists(path):
        os.unlink(path)


def has_map(path, name):
    _, err = is_hot(path, name)
    m = re.search(r"assumed: '/tmp/perf-(\d+)\.map' is of the process that was recorded", err)
    check(m, err)
    remove_map(int(m[1]))


def is_hot(path, name, least=ROUNDS // 10):
    """Everything is decoded, and the code named @name ran its loop."""
    r = Run([PTCAP, "decode", "-i", path, "--counts=blocks", "--strict"]).expect(0)
    found = [int(m[1]) for m in re.finditer(rf"^ *(\d+) +[\d.]+ +jcc +{name}\+0x", r.out, re.M)]
    check(sum(found) >= least, f"{name}: {found[:5]} times: {r.err}")
    nameless = re.findall(r"^ *\d+ +[\d.]+ +\S+ +0x[0-9a-f]+ \(anon\)", r.out, re.M)
    return len(nameless), r.err


def case_node_jitdump(folder):
    """node --perf-prof: all code has a name; the code of the dump is as good as the recording's own."""
    need("node")
    for n, options in enumerate(([], ["--perf-prof-unwinding-info"])):
        inner = os.path.join(folder, str(n))
        os.mkdir(inner)
        path = recorded(inner, [*NODE, "--perf-prof", *options, write(inner, "hot.js", JS)])
        nameless, err = is_hot(path, r"JS:\*hotFunction \S+")
        check(not nameless, f"{nameless} blocks of made code have no name")
        check("jitdump" not in err, err)
        jitdump.drop_made(path, path + ".bare")
        is_hot(path + ".bare", r"JS:\*hotFunction \S+")
        os.unlink(path)


def case_node_map(folder):
    """node --perf-basic-prof writes /tmp/perf-PID.map."""
    need("node")
    path = recorded(folder, [*NODE, "--perf-basic-prof", write(folder, "hot.js", JS)])
    has_map(path, r"JS:\*hotFunction \S+")


def case_node_attached(folder):
    """A running node is stepped for a while; its dump is not complete yet."""
    need("node")
    argv = [*NODE, "--perf-prof", write(folder, "hot.js", JS_FOREVER)]
    path = os.path.join(folder, "perf.data")
    with subprocess.Popen(argv, cwd=folder, env=ENV, stdout=subprocess.PIPE) as node:
        try:
            check(node.stdout.readline() == b"ready\n", "it is not ready")
            Run([*lib.RECORD, "-o", path, "--max-steps", "20000", "-p", str(node.pid)]).expect(0)
            is_hot(path, r"JS:\*hotFunction \S+", 100)
        finally:
            node.kill()


def case_java_map(folder):
    """java writes /tmp/perf-PID.map when it ends."""
    need("java", "javac")
    write(folder, "Hot.java", JAVA)
    Run(["javac", "Hot.java"], cwd=folder, env=ENV).expect(0)
    path = recorded(folder, ["java", *JAVA_OPTIONS, "-cp", folder, "Hot"])
    has_map(path, r"int Hot\.hotFunction\(int\)")


CASES = {name[5:]: f for name, f in list(globals().items()) if name.startswith("case_")}

if __name__ == "__main__":
    lib.main(CASES)
