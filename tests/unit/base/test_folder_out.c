/* SPDX-License-Identifier: MIT */
/* Description: a recording that is a folder appears complete, or not at all. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "auxtrace/reader/reader.h"
#include "base/folder_out.h"
#include "base/temp_name.h"
#include "fewer.h"
#include "lib_elf.h"
#include "lib_perfdata.h"

static char dir[64];
static struct ptc_err err;

static void make(void)
{
	le_folder(dir, sizeof(dir));
	cr_assert_eq(chdir(dir), 0);
}

static void away(void)
{
	cr_assert_eq(chdir("/"), 0);
	le_folder_remove(dir);
}

TestSuite(folder_out, .init = make, .fini = away);

static int entries(void)
{
	DIR *d = opendir(".");
	int n = -2;

	cr_assert_not_null(d);
	while (readdir(d))
		n++;
	(void)closedir(d);
	return n;
}

static void put_data(const struct ptc_folder_out *o)
{
	static const uint64_t single;
	struct pd p;

	pd_init_pt(&p, NULL);
	pd_comm(&p, 1, 1, "one", false);
	pd_feature(&p, PTC_FEAT_DIR_FORMAT, &single, sizeof(single));
	pd_write(&p, o->data);
	pd_release(&p);
}

Test(folder_out, nothing_is_there_before_and_a_recording_behind_it)
{
	struct ptc_folder_out o;
	struct ptc_file *f;
	struct stat st;

	cr_assert_eq(ptc_folder_out_open(&o, "out/", &err), 0, "%s", err.msg);
	cr_assert(stat("out", &st));
	put_data(&o);
	cr_assert_eq(ptc_folder_out_commit(&o, &err), 0, "%s", err.msg);
	cr_assert(!stat("out", &st) && S_ISDIR(st.st_mode) && (st.st_mode & 0777) == 0700);
	cr_assert_eq(ptc_file_open("out", &f, &err), 0, "%s", err.msg);
	ptc_file_free(f);
	cr_assert_eq(entries(), 1);
	ptc_folder_out_release(&o);
}

Test(folder_out, what_was_not_committed_is_gone_with_all_that_is_in_it)
{
	struct ptc_folder_out o;
	char sub[256];
	FILE *f;

	cr_assert_eq(ptc_folder_out_open(&o, "out", &err), 0);
	put_data(&o);
	(void)snprintf(sub, sizeof(sub), "%s/kcore_dir", o.tmp);
	cr_assert_eq(mkdir(sub, 0700), 0);
	(void)snprintf(sub, sizeof(sub), "%s/kcore_dir/kcore", o.tmp);
	f = fopen(sub, "w");
	cr_assert(f && !fclose(f));
	ptc_folder_out_release(&o);
	cr_assert_eq(entries(), 0);
}

Test(folder_out, the_former_is_kept)
{
	struct ptc_folder_out o;
	struct stat st;
	int i;

	for (i = 0; i < 3; i++) {
		cr_assert_eq(ptc_folder_out_open(&o, "out", &err), 0);
		put_data(&o);
		cr_assert_eq(ptc_folder_out_commit(&o, &err), 0, "%s", err.msg);
	}
	cr_assert(!stat("out.old/data", &st));
	cr_assert_eq(entries(), 2);
}

Test(folder_out, what_cannot_be_made_is_refused)
{
	struct ptc_folder_out o;

	cr_assert_eq(ptc_folder_out_open(&o, "", &err), PTC_E_USAGE);
	cr_assert_eq(ptc_folder_out_open(&o, "none/out", &err), PTC_E_NOT_EXIST);
	cr_assert(strstr(err.msg, "'none/out'"), "%s", err.msg);
	cr_assert_eq(ptc_folder_out_open(&o, "/tmp", &err), PTC_E_USAGE);
	cr_assert(strstr(err.msg, "is a folder without a recording"), "%s", err.msg);
	cr_assert_eq(entries(), 0);
}

/*
 * Another process begins an output in the same folder, and removes what killed processes left. For
 * a moment a new folder looks like that. (Before the fix, "cannot create a temporary folder".)
 */
Test(folder_out, processes_begin_outputs_in_one_folder)
{
	struct ptc_folder_out o;
	const pid_t child = fork();
	int i;

	cr_assert_geq(child, 0);
	if (!child && prctl(PR_SET_PDEATHSIG, SIGKILL) == 0) /* also if a check fails */
		for (;;)
			ptc_hidden_sweep("other");
	for (i = 0; i < FEWER(1500, 300); i++) {
		cr_assert_eq(ptc_folder_out_open(&o, "f", &err), 0, "%d: %s", i, err.msg);
		ptc_folder_out_release(&o);
	}
	cr_assert_eq(kill(child, SIGKILL), 0);
	cr_assert_eq(waitpid(child, NULL, 0), child);
	cr_assert_eq(entries(), 0);
}
