/* SPDX-License-Identifier: MIT */
/* Description: the processes that hold perf events are found by the descriptors in /proc. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/perf/event_owners.h"
#include "lib_elf.h"

static char root[64];

static void process(int pid, const char *comm, const char *link)
{
	struct ptc_buf b = PTC_BUF_INIT;
	char name[96];

	ptc_buf_put(&b, comm, strlen(comm));
	(void)snprintf(name, sizeof(name), "%d/comm", pid);
	(void)le_write(root, name, &b);
	(void)snprintf(name, sizeof(name), "%s/%d/fd", root, pid);
	cr_assert_eq(mkdir(name, 0700), 0);
	(void)snprintf(name, sizeof(name), "%s/%d/fd/3", root, pid);
	cr_assert_eq(symlink(link, name), 0);
	ptc_buf_release(&b);
}

Test(event_owners, those_with_an_event_are_named_as_far_as_there_is_room)
{
	char text[64];

	le_folder(root, sizeof(root));
	ptc_holders_text(root, text, sizeof(text));
	cr_assert_str_empty(text);
	process(10, "perf\n", "anon_inode:[perf_event]");
	process(11, "cat\n", "/dev/null");
	process(getpid(), "self\n", "anon_inode:[perf_event]");
	ptc_holders_text(root, text, sizeof(text));
	cr_assert_str_eq(text, "perf 10");
	process(12, "", "anon_inode:[perf_event]");
	ptc_holders_text(root, text, sizeof(text));
	cr_assert(strstr(text, "perf 10") && strstr(text, "? 12"), "%s", text);
	ptc_holders_text(root, text, 10);
	cr_assert_leq(strlen(text), 9);
	ptc_holders_text("/nonexistent", text, sizeof(text));
	cr_assert_str_empty(text);
	le_folder_remove(root);
}
