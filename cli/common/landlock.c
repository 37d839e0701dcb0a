/* SPDX-License-Identifier: MIT */
/*
 * The numbers are from linux/landlock.h (Linux 6.12); Debian 12 has only the first version.
 * Features that the kernel does not know are not requested. The structure's size and the bits
 * depend on the version (Documentation/userspace-api/landlock.rst).
 */
#include "cli/common/landlock.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	NR_CREATE_RULESET = 444,
	NR_ADD_RULE = 445,
	NR_RESTRICT_SELF = 446,
	CREATE_VERSION = 1, /* LANDLOCK_CREATE_RULESET_VERSION */
	RULE_PATH_BENEATH = 1,
};

/* LANDLOCK_ACCESS_FS_ */
#define FS_EXECUTE	    (UINT64_C(1) << 0)
#define FS_WRITE_FILE	    (UINT64_C(1) << 1)
#define FS_REMOVE_DIR	    (UINT64_C(1) << 4)
#define FS_REMOVE_FILE	    (UINT64_C(1) << 5)
#define FS_MAKE_CHAR	    (UINT64_C(1) << 6)
#define FS_MAKE_DIR	    (UINT64_C(1) << 7)
#define FS_MAKE_REG	    (UINT64_C(1) << 8)
#define FS_MAKE_SOCK	    (UINT64_C(1) << 9)
#define FS_MAKE_FIFO	    (UINT64_C(1) << 10)
#define FS_MAKE_BLOCK	    (UINT64_C(1) << 11)
#define FS_MAKE_SYM	    (UINT64_C(1) << 12)
#define FS_REFER	    (UINT64_C(1) << 13) /* version 2 */
#define FS_TRUNCATE	    (UINT64_C(1) << 14) /* version 3 */
#define FS_IOCTL_DEV	    (UINT64_C(1) << 15) /* version 5 */
/* LANDLOCK_ACCESS_NET_, version 4 */
#define NET_BIND_TCP	    (UINT64_C(1) << 0)
#define NET_CONNECT_TCP	    (UINT64_C(1) << 1)
/* LANDLOCK_SCOPE_, version 6 */
#define SCOPE_ABSTRACT_UNIX (UINT64_C(1) << 0)
#define SCOPE_SIGNAL	    (UINT64_C(1) << 1)

#define FS_V1                                                                                      \
	(FS_EXECUTE | FS_WRITE_FILE | FS_REMOVE_DIR | FS_REMOVE_FILE | FS_MAKE_CHAR |              \
	 FS_MAKE_DIR | FS_MAKE_REG | FS_MAKE_SOCK | FS_MAKE_FIFO | FS_MAKE_BLOCK | FS_MAKE_SYM)

/* Rights needed for an output. An existing file, which may be a folder or a link, is renamed. */
#define FS_OUTPUT                                                                                  \
	(FS_WRITE_FILE | FS_REMOVE_DIR | FS_REMOVE_FILE | FS_MAKE_DIR | FS_MAKE_REG |              \
	 FS_MAKE_SYM | FS_TRUNCATE)

struct ruleset {
	uint64_t fs, net, scoped;
};

struct path_beneath {
	uint64_t allowed;
	int32_t parent_fd;
} __attribute__((packed));

static_assert(sizeof(struct ruleset) == 24, "struct landlock_ruleset_attr");
static_assert(sizeof(struct path_beneath) == 12, "struct landlock_path_beneath_attr");

int ptc_landlock_version(void)
{
	const long v = syscall(NR_CREATE_RULESET, NULL, (size_t)0, (uint32_t)CREATE_VERSION);

	return v > 0 ? (int)v : 0;
}

static uint64_t known(int version)
{
	return FS_V1 | (version >= 2 ? FS_REFER : 0) | (version >= 3 ? FS_TRUNCATE : 0) |
	       (version >= 5 ? FS_IOCTL_DEV : 0);
}

static int create(const struct ptc_landlock *l, int version)
{
	const struct ruleset r = {
		.fs = known(version),
		.net = l->fetches ? NET_BIND_TCP : NET_BIND_TCP | NET_CONNECT_TCP,
		.scoped = SCOPE_ABSTRACT_UNIX | SCOPE_SIGNAL,
	};
	const size_t size = version >= 6 ? sizeof(r) :
			    version >= 4 ? offsetof(struct ruleset, scoped) :
					   offsetof(struct ruleset, net);

	return (int)syscall(NR_CREATE_RULESET, &r, size, (uint32_t)0);
}

/* Add a rule. A missing path is skipped: its use later fails and is reported there. */
static int allow(int ruleset, const char *path, int flags, uint64_t access)
{
	struct path_beneath b = { .allowed = access,
				  .parent_fd = open(path, O_PATH | O_CLOEXEC | flags) };
	int rc, sys;

	if (b.parent_fd < 0)
		return 0;
	rc = (int)syscall(NR_ADD_RULE, ruleset, RULE_PATH_BENEATH, &b, (uint32_t)0);
	sys = errno;
	(void)close(b.parent_fd);
	errno = sys;
	return rc;
}

/* Allow the folders of base/spool.c, for nameless files. */
static int allow_temporary(int ruleset, uint64_t access)
{
	const char *asked = secure_getenv("TMPDIR");

	if (asked && *asked)
		return allow(ruleset, asked, O_DIRECTORY, access);
	if (allow(ruleset, "/var/tmp", O_DIRECTORY, access))
		return -1;
	return allow(ruleset, "/tmp", O_DIRECTORY, access);
}

int ptc_landlock_enter(const struct ptc_landlock *l, int version)
{
	const int ruleset = create(l, version);
	int rc, sys;
	size_t i;

	if (ruleset < 0)
		return -1;
	rc = allow(ruleset, "/dev/null", 0, FS_WRITE_FILE);
	if (!rc)
		rc = allow_temporary(ruleset, FS_WRITE_FILE);
	for (i = 0; i < l->nfolders && !rc; i++)
		rc = allow(ruleset, l->folders[i], O_DIRECTORY, FS_OUTPUT & known(version));
	if (!rc)
		rc = (int)syscall(NR_RESTRICT_SELF, ruleset, (uint32_t)0);
	sys = errno;
	(void)close(ruleset);
	errno = sys;
	return rc;
}
