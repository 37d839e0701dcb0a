# SPDX-License-Identifier: MIT
"""One function opens names from outside: base/untrusted.c. Each other file that opens something is
listed here, with the files that it opens. Libdw and libdwfl open files by name, too: the code
never calls their functions that do.

usage: opens.py SOURCE_DIR
"""
import sys

from common import LAYERS, finish, grep, prove, sources

ALLOWED = {
    "base/untrusted.c": "names that others chose",
    "base/temp_name.c": "the folder of the output, and in it the temporary names of this user",
    "base/budget.c": "/proc/self/statm",
    "base/io.c": "ptc_read_file: files of /proc and /sys",
    "base/open_input.c": "the recording that the user named: a FIFO is waited for, a device is not opened",
    "base/tmpfile.c": "a file without a name, beside the output",
    "base/spool.c": "a file without a name",
    "base/replace.c": "the folder of the output, to replace it",
    "auxtrace/reader/dir_reader.c": "the folder of the recording, to list it",
    "capture/host/hostinfo.c": "a folder of /sys",
    "capture/host/topology.c": "a folder of /sys",
    "capture/doctor/programs.c": "a file without a name, to measure the disk",
    "capture/doctor/target.c": "/proc/PID/mem",
    "capture/doctor/trials.c": "/proc/kcore",
    "capture/emu/program_start.c": "/proc/self/stat",
    "capture/emu/initial_maps.c": "/proc/self/maps",
    "capture/emu/owner_liveness.c": "/proc/PID/stat",
    "capture/emu/pid_namespace.c": "/proc, and /proc/PID/status",
    "capture/emu/shm_access.c": "/proc/self/map_files/, for the mapping that ptcap made",
    "capture/perf/event_owners.c": "/proc/PID/fd",
    "capture/perf/kcore.c": "/proc/kcore, and the new files of kcore_dir",
    "capture/perf/open.c": "the folder of a cgroup",
    "capture/perf/pmu.c": "a folder of /sys",
    "capture/perf/synthesize.c": "/proc/PID/mem",
    "capture/host/target_memory.c": "/proc/TID/mem",
    "capture/host/tasks.c": "/proc/PID/task",
    "capture/step/tracer_process.c": "/proc/PID/status of ptcap",
    "capture/step/launch_attach.c": "/proc/PID/task",
    "cli/common/process_setup.c": "/dev/null, and /proc/self/maps",
    "cli/common/control.c": "the FIFO that the user named",
    "cli/common/landlock.c": "folders that may be written to, with O_PATH",
    "cli/common/terminal.c": "/dev/null",
    "cli/record/buildid_cache.c": "perf's cache of the user, and the new folders and files in it",
    "cli/arrow/ipc_file.c": "new files in the output, a folder that ptcap has made",
    "cli/timeline/folder_file.c": "new files in the output, a folder that ptcap has made",
    "cli/timeline/uftrace_records.c": "files in the output, a folder that ptcap has made",
}
# ptc_read_file: only for files of the kernel.
READS = ("capture/", "base/io.", "decode/symbols/symbol_address_kernel.c")
OPENS = r"(?<![\w.>])(open|openat|open64|fopen|freopen|creat|opendir)\s*\("
BY_NAME = r"\b(dwfl_standard_find_debuginfo|dwfl_build_id_find_(elf|debuginfo)|dwfl_linux_\w+|dwfl_standard_argp|" \
          r"dwarf_getalt|dwarf_cu_info|dwarf_begin|debuginfod_find_source)\b"
# The last argument asks for the rest of a split unit, which is in a file that libdw opens.
SPLIT = r"\bdwarf_get_units\s*\((?![^;{]*NULL\s*\))"


def check(root):
    paths = sources(root, LAYERS)
    complaints = [f"{path}:{line}: {m.group(1)} is called; base/untrusted.h opens names that others chose"
                  for path, line, m in grep(root, paths, OPENS) if path not in ALLOWED]
    complaints += [f"{path}:{line}: {m.group(1)} opens files by name"
                   for path, line, m in grep(root, paths, BY_NAME)]
    complaints += [f"{path}:{line}: dwarf_get_units opens .dwo files if its last argument is not NULL"
                   for path, line, m in grep(root, paths, SPLIT)]
    complaints += [f"{path}:{line}: ptc_read_file reads files of the kernel; base/untrusted.h reads others"
                   for path, line, m in grep(root, paths, r"\bptc_read_file\s*\(") if not path.startswith(READS)]
    return complaints


GOOD = {
    "base/untrusted.c": "int f(void) { return open(0, 0); }\n",
    "decode/a.c": "/* open(a) */\nint f(void) { x->open(1); ptc_search_open(2);\n"
                  "return dwarf_get_units(d, *cu, cu, NULL, &type,\n\tret, NULL); }\n",
    "capture/a.c": 'int f(void) { return ptc_read_file("/proc/stat", 1, 0, 0); }\n',
}
BAD = [
    ("decode/bad.c", "int f(void) { return open(path, O_RDONLY); }\n"),
    ("capture/bad.c", "void *f(void) { return fopen (path, 0); }\n"),
    ("cli/bad.c", "int f(void) { return openat(1, path, O_RDONLY); }\n"),
    ("decode/bad.c", "static const Dwfl_Callbacks c = { .find_elf = dwfl_build_id_find_elf };\n"),
    ("decode/bad.c", "int f(void) { return dwfl_standard_find_debuginfo(0); }\n"),
    ("decode/bad.c", "int f(void) { return dwarf_get_units(d, *cu, cu, NULL, &type, ret, &split); }\n"),
    ("decode/bad.c", "int f(void) { return ptc_read_file(path, 1, 0, 0); }\n"),
]

prove(check, GOOD, BAD)
finish(check(sys.argv[1]), not sources(sys.argv[1], LAYERS))
