#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""An installed prefix that was moved. installed.py SOURCE BUILD CC CXX CMAKE PLUGIN: install, move the prefix, and
check there:

record    `ptcap record` finds its plugin and takes the emu source; decode has no gap; a planted plugin is not loaded
programs  a C and a C++ program, built by pkg-config and by find_package, print the version of the library; libptcap also
          finds its plugin; the program of ptcap(3) counts the branches that decode prints
pages     man reads each page without a warning

PLUGIN: where the configured prefix has its plugin. ptcap uses it if the moved prefix has none.

installed.py SOURCE: only the programs, with the Debian packages in /usr.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE = sys.argv[1]
BUILD, CC, CXX, CMAKE, PLUGIN = sys.argv[2:7] or (None, "cc", "c++", "cmake", None)
LOCATORS = ("PTCAP_EMU_PLUGIN", "PTCAP_QEMU", "LD_LIBRARY_PATH", "PKG_CONFIG_PATH")
ENV = {k: v for k, v in os.environ.items() if k not in LOCATORS}
PROGRAM = """\
#include <stdio.h>
#include "ptcap/capture.h"
#include "ptcap/version.h"
int main(int argc, char **argv)
{
	struct ptc_record_opts opts = PTC_RECORD_OPTS_INIT;
	struct ptc_source_choice choice;
	struct ptc_err err;

	if (argc == 1)
		return puts(ptc_version()) < 0;
	opts.target.argv = argv + 1;
	if (ptc_source_choose(&opts, &choice, &err))
		return fprintf(stderr, "%s", err.msg), 1;
	printf("%d %s", (int)(choice.kind == PTC_SOURCE_EMU), choice.why);
	return 0;
}
"""
CMAKE_LISTS = """\
cmake_minimum_required(VERSION 3.25)
project(user C CXX)
find_package(ptcap 0.2 REQUIRED COMPONENTS static)
add_executable(shared-c user.c)
add_executable(shared-cxx user.cpp)
add_executable(static-c user.c)
add_executable(static-cxx user.cpp)
target_link_libraries(shared-c ptcap::ptcap)
target_link_libraries(shared-cxx ptcap::ptcap)
target_link_libraries(static-c ptcap::static)
target_link_libraries(static-cxx ptcap::static)
find_package(ptcap 0.2 COMPONENTS nonsense)
if(ptcap_FOUND)
	message(FATAL_ERROR "an unknown component was found")
endif()
"""


def loads_plugins(qemu):
    """Debian 13's QEMU does not."""
    return qemu and re.search("^-plugin ", subprocess.run([qemu, "--help"], capture_output=True, text=True, check=False).stdout, re.M)


# Without Intel PT, and with a QEMU. api_installed needs no QEMU otherwise.
EMU_IS_CHOSEN = loads_plugins(shutil.which("qemu-x86_64")) and not os.path.exists("/sys/bus/event_source/devices/intel_pt")


def run(command, **more):
    r = subprocess.run(command, capture_output=True, text=True, check=False, env=more.pop("env", ENV), **more)
    assert r.returncode == 0, (command, r)
    return r


def find(folder, name):
    found = [os.path.join(d, name) for d, _, files in os.walk(folder) if name in files]
    assert len(found) == 1, (name, found)
    return found[0]


def version():
    with open(os.path.join(SOURCE, "CMakeLists.txt"), encoding="utf-8") as f:
        return re.search(r"^project\(ptcap VERSION (\S+)", f.read(), re.M)[1]


def check_record(prefix, folder):
    ptcap = os.path.join(prefix, "bin", "ptcap")
    data = os.path.join(folder, "perf.data")
    assert run([ptcap, "--version"]).stdout == f"ptcap {version()}\n"
    if EMU_IS_CHOSEN:
        said = run([ptcap, "record", "-o", data, "--", "/bin/true"]).stderr
        assert "source: emu" in said, said
    run([ptcap, "record", "--source", "emu", "-o", data, "--", "/bin/true"])
    lines = run([ptcap, "decode", "-i", data]).stdout.splitlines()
    assert len(lines) > 1000 and not [l for l in lines if l.startswith("#")], lines[-5:]
    check_own_qemu(prefix, ptcap, data)
    if os.path.exists(PLUGIN):
        print(f"no planted plugins are tested: ptcap would use {PLUGIN}")
    else:
        check_planted(prefix, folder, data)


def refuses(ptcap, data, env=None, **more):
    """Return the reason why emu does not run."""
    r = subprocess.run(
        ["ptcap", "record", "--source", "emu", "-o", data, "--", "/bin/true"],
        executable=ptcap, env=env or ENV, capture_output=True, text=True, check=False, **more,
    )
    assert r.returncode == 125, r
    return r.stderr


def check_own_qemu(prefix, ptcap, data):
    """The QEMU of the prefix comes before the one in PATH. A QEMU that strangers can replace is not used."""
    own = os.path.join(prefix, "libexec", "ptcap", "qemu-x86_64")
    bad_plugin = {**ENV, "PTCAP_EMU_PLUGIN": "/etc/passwd"}
    os.makedirs(os.path.dirname(own))
    shutil.copy(shutil.which("qemu-x86_64"), own)
    assert f"'{own}' cannot load the plugin" in refuses(ptcap, data, env=bad_plugin)
    os.chmod(own, 0o777)
    assert own not in refuses(ptcap, data, env=bad_plugin)
    shutil.rmtree(os.path.join(prefix, "libexec"))


def check_planted(prefix, folder, data):
    """A plugin that a stranger can replace is not loaded, and neither is one in the current folder."""
    ptcap = os.path.join(prefix, "bin", "ptcap")
    plugin = find(prefix, "ptcap-emu.so")
    os.chmod(plugin, 0o777)
    said = refuses(ptcap, data)
    assert "the QEMU plugin is refused" in said and plugin in said, said
    os.rename(plugin, plugin + ".away")
    planted = os.path.join(folder, "planted")
    os.mkdir(planted)
    for name in ("ptcap", "ptcap-emu.so"):
        shutil.copy("/bin/true", os.path.join(planted, name))
    said = refuses(ptcap, data, cwd=planted)
    assert "cannot find the QEMU plugin" in said, said
    os.rename(plugin + ".away", plugin)
    os.chmod(plugin, 0o755)


def check_pages(prefix):
    pages = [os.path.join(d, f) for d, _, files in os.walk(os.path.join(prefix, "share", "man")) for f in files]
    assert {p[-1] for p in pages} == set("1357"), pages
    for page in pages:
        r = run(["man", "--warnings", "-l", page], env={**ENV, "MANPAGER": "cat", "LC_ALL": "C.UTF-8"})
        assert not r.stderr, (page, r.stderr)
        assert "NAME" in r.stdout, page


def check_example(prefix, folder, flags, env):
    """The program in ptcap(3) counts what decode prints."""
    with open(os.path.join(SOURCE, "doc/man/ptcap.3.md"), encoding="utf-8") as f:
        lines = f.read().split("## EXAMPLES")[1].split("## SEE")[0].splitlines()
    with open(os.path.join(folder, "example.c"), "w", encoding="utf-8") as f:
        f.write("\n".join(line[4:] for line in lines if line.startswith("    ") or not line) + "\n")
    run([CC, "-Wall", "-Wextra", "-Werror", "example.c", *flags, "-o", "example"], cwd=folder)
    data = os.path.join(SOURCE, "traces", "calls.data")
    lines = run([os.path.join(prefix, "bin", "ptcap"), "decode", data]).stdout.splitlines()
    assert int(run([os.path.join(folder, "example"), data], env=env).stdout) == len(lines) > 100, len(lines)


def check_printed(program, **more):
    assert run([program], **more).stdout == version() + "\n", program


def build_by_pkg_config(prefix, folder):
    lib = os.path.dirname(find(prefix, "ptcap.pc"))
    env = {**ENV, "LD_LIBRARY_PATH": os.path.dirname(lib)}
    flags = run(["pkg-config", "--cflags", "--libs", "ptcap"], env={**ENV, "PKG_CONFIG_PATH": lib}).stdout.split()
    assert run(["pkg-config", "--modversion", "ptcap"], env={**ENV, "PKG_CONFIG_PATH": lib}).stdout == version() + "\n"
    for compiler, source in ((CC, "user.c"), (CXX, "user.cpp")):
        run([compiler, "-Wall", "-Werror", source, *flags, "-o", "by-pkg-config"], cwd=folder)
        program = os.path.join(folder, "by-pkg-config")
        check_printed(program, env=env)
        if EMU_IS_CHOSEN:
            choice = run([program, "/bin/true"], env=env).stdout
            assert choice.startswith("1 "), choice
    check_example(prefix, folder, flags, env)


def build_by_find_package(prefix, folder):
    made = os.path.join(folder, "made")
    run([CMAKE, "-G", "Ninja", "-S", folder, "-B", made, f"-DCMAKE_PREFIX_PATH={prefix}",
         f"-DCMAKE_C_COMPILER={CC}", f"-DCMAKE_CXX_COMPILER={CXX}"])
    run([CMAKE, "--build", made])
    for kind in ("shared", "static"):
        for language in ("c", "cxx"):
            program = os.path.join(made, f"{kind}-{language}")
            needed = run(["readelf", "-d", program]).stdout
            assert ("[libptcap.so.0]" in needed) == (kind == "shared"), needed
            check_printed(program)


def check_programs(prefix, folder):
    for name, text in (("user.c", PROGRAM), ("user.cpp", PROGRAM), ("CMakeLists.txt", CMAKE_LISTS)):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
            f.write(text)
    if shutil.which("pkg-config"):
        build_by_pkg_config(prefix, folder)
    build_by_find_package(prefix, folder)


def check_moved(folder):
    first = os.path.join(folder, "first")
    moved = os.path.join(folder, "moved")
    run([CMAKE, "--install", BUILD, "--prefix", first])
    os.rename(first, moved)
    if shutil.which("qemu-x86_64"):
        check_record(moved, folder)
    else:
        print("nothing is recorded: no qemu-x86_64 here (Debian: qemu-user)")
    check_programs(moved, folder)
    if shutil.which("man"):
        check_pages(moved)


with tempfile.TemporaryDirectory(prefix="ptcap-installed-") as main_folder:
    if BUILD:
        check_moved(main_folder)
    else:
        check_programs("/usr", main_folder)
