/* SPDX-License-Identifier: MIT */
#include "capture/doctor/programs.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/io.h"
#include "base/monotonic.h"
#include "base/untrusted.h"
#include "capture/emu/command_check.h"
#include "capture/emu/qemu_locate.h"

enum {
	MIB = 1 << 20,
	WRITTEN = 16 * MIB,
	SPACE_LOW = 1024, /* MiB: a busy CPU makes some hundred MB of trace a second */
};

/* Returns the value of @name in the text of os-release(5), without a quote before it. "": none. */
static const char *find_in_os_release(const char *text, const char *name)
{
	const size_t n = strlen(name);

	while (text && (strncmp(text, name, n) != 0 || text[n] != '=')) {
		text = strchr(text, '\n');
		text = text ? text + 1 : NULL;
	}
	if (!text)
		return "";
	return text[n + 1] == '"' ? text + n + 2 : text + n + 1;
}

const char *ptc_qemu_remedy(const char *os_release)
{
	static const struct {
		const char *id, *remedy;
	} known[] = {
		{ "debian", "sudo apt install qemu-user" },
		{ "ubuntu", "sudo apt install qemu-user" },
		{ "fedora", "sudo dnf install qemu-user" },
		{ "arch", "sudo pacman -S qemu-user" },
		{ "opensuse", "sudo zypper install qemu-linux-user" },
	};
	const char *id = find_in_os_release(os_release, "ID");
	size_t i;

	if (!strncmp(id, "debian", 6) &&
	    strtol(find_in_os_release(os_release, "VERSION_ID"), NULL, 10) >= 13)
		return "scripts/qemu";
	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strncmp(id, known[i].id, strlen(known[i].id)))
			return known[i].remedy;
	return "install qemu-user 7.2 or later, or build it with scripts/qemu";
}

static void mend_qemu(struct ptc_check *c)
{
	const struct ptc_untrusted how = { .max = MIB };
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_err ignored;
	struct stat st;

	if (ptc_untrusted_read("/etc/os-release", &how, &b, &st, &ignored))
		ptc_buf_reset(&b);
	ptc_check_mend(c, "%s", ptc_qemu_remedy(b.len ? (const char *)b.bytes : ""));
	ptc_buf_release(&b);
}

bool ptc_check_emu(struct ptc_check *c)
{
	char shell[] = "/bin/sh", *argv[] = { shell, NULL }, *qemu, *plugin;
	struct ptc_record_opts o = PTC_RECORD_OPTS_INIT;
	struct ptc_err err;
	bool works;

	if (ptc_emu_find(&qemu, &plugin, &err)) {
		ptc_check_set(c, PTC_CHECK_MISSING, "%s", err.msg);
		if (!ptc_emu_has_qemu() && secure_getenv("PTCAP_QEMU"))
			ptc_check_mend(c, "unset PTCAP_QEMU, or set it to the path of qemu-x86_64");
		else if (!ptc_emu_has_qemu())
			mend_qemu(c); /* else the message says what to do about the plugin */
		return false;
	}
	o.target.argv = argv;
	works = !ptc_emu_fits(&o, &err);
	if (works)
		ptc_check_set(c, PTC_CHECK_OK, "%s loads %s", qemu, plugin);
	else
		ptc_check_set(c, PTC_CHECK_BROKEN, "%s", err.msg);
	if (!works)
		ptc_check_mend(c, "scripts/qemu");
	free(qemu);
	free(plugin);
	return works;
}

/* Returns the speed in bytes a second; 0: the folder cannot be written, *ret_sys has the reason. */
static uint64_t measure_writes(const char *folder, int *ret_sys)
{
	const int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	char *bytes = malloc(MIB);
	struct ptc_err err = { .sys = 0 };
	uint64_t begin, ns = 1;
	size_t i;

	*ret_sys = fd < 0 ? errno : 0;
	if (fd >= 0 && bytes) {
		memset(bytes, 0x5a, MIB);
		begin = ptc_monotonic_ns();
		for (i = 0; i < WRITTEN / MIB && !*ret_sys; i++)
			if (ptc_write_all(fd, bytes, MIB, folder, &err))
				*ret_sys = err.sys;
		(void)fdatasync(fd);
		ns = ptc_monotonic_ns() - begin + 1;
	}
	if (fd >= 0)
		(void)close(fd);
	free(bytes);
	return *ret_sys ? 0 : (uint64_t)WRITTEN * 1000000000 / ns;
}

void ptc_check_disk(const char *folder, bool quick, struct ptc_check *c)
{
	struct statvfs v;
	uint64_t mib, speed;
	int sys;

	if (statvfs(folder, &v)) {
		ptc_check_set(c, PTC_CHECK_UNKNOWN, "%s: %s", folder, strerrordesc_np(errno));
		return;
	}
	mib = (uint64_t)v.f_bavail * v.f_frsize / MIB;
	ptc_check_set(c, mib < SPACE_LOW ? PTC_CHECK_NOTE : PTC_CHECK_OK,
		      "%" PRIu64 " MiB free in %s", mib, folder);
	if (access(folder, W_OK)) {
		c->state = PTC_CHECK_BROKEN;
		ptc_check_add(c, ", which this user cannot write to");
		ptc_check_mend(c, "write elsewhere: -o /FOLDER/perf.data");
		return;
	}
	if (mib < SPACE_LOW)
		ptc_check_mend(c, "write elsewhere: -o /FOLDER/perf.data");
	if (quick)
		return;
	speed = measure_writes(folder, &sys);
	if (speed)
		ptc_check_add(c, ", %" PRIu64 " MB/s measured", speed / 1000000);
	else
		ptc_check_add(c, ", speed not measured: %s", strerrordesc_np(sys));
}
