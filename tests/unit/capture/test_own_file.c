/* SPDX-License-Identifier: MIT */
/* Description: files of the prefix are found beside a module, and files of strangers are refused.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/host/own_file.h"
#include "lib_skip.h"

static char root[PATH_MAX];
static struct ptc_own_module module;

/* Returns @name below the test's folder, in one of two static buffers. */
static const char *below(const char *name)
{
	static char path[2][2 * PATH_MAX];
	static int n;

	n = !n;
	(void)snprintf(path[n], sizeof(path[n]), "%s/%s", root, name);
	return path[n];
}

static void make_file(const char *name)
{
	FILE *f = fopen(below(name), "w");

	cr_assert_not_null(f);
	cr_assert_eq(fclose(f), 0);
	cr_assert_eq(chmod(below(name), 0755), 0);
}

static void make_folder(const char *name, mode_t mode)
{
	cr_assert_eq(mkdir(below(name), 0700), 0);
	cr_assert_eq(chmod(below(name), mode), 0);
}

/* A prefix with bin/tool, lib/ptcap/plugin.so and bin/beside. */
static void make_prefix(void)
{
	char folder[] = "/tmp/ptcap-own-XXXXXX";

	cr_assert_not_null(mkdtemp(folder));
	cr_assert_not_null(realpath(folder, root));
	make_folder("bin", 0755);
	make_folder("lib", 0775);
	make_folder("lib/ptcap", 0755);
	make_file("bin/tool");
	make_file("bin/beside");
	make_file("lib/ptcap/plugin.so");
	module.is_library = false;
	(void)snprintf(module.path, sizeof(module.path), "%s", below("bin/tool"));
}

static void remove_prefix(void)
{
	char command[2 * PATH_MAX];

	(void)snprintf(command, sizeof(command), "rm -rf '%s'", root);
	cr_assert_eq(system(command), 0);
}

TestSuite(own_file, .init = make_prefix, .fini = remove_prefix);

/* Finds @name. Returns the path below the test's folder, or "" and the code. */
static const char *find(const char *name, int *ret_code)
{
	static char found[PATH_MAX];
	struct ptc_err err;
	char *path;

	*ret_code = ptc_own_file_find(&module, name, R_OK, &path, &err);
	if (*ret_code)
		return "";
	(void)snprintf(found, sizeof(found), "%s", path + strlen(root));
	free(path);
	return found;
}

static void expect(const char *name, int code, const char *path)
{
	int got;

	cr_expect_str_eq(find(name, &got), path, "%s", name);
	cr_expect_eq(got, code, "%s: %d instead of %d", name, got, code);
}

static const char plugin[] = "../lib/ptcap/plugin.so";

Test(own_file, names_are_relative_to_the_folder_of_the_module)
{
	expect("beside", 0, "/bin/beside");
	expect(plugin, 0, "/lib/ptcap/plugin.so");
	expect("../lib/ptcap/none", PTC_E_NOT_EXIST, "");
	expect("../../../../../../../../nonexistent", PTC_E_NOT_EXIST, "");
	expect(below("lib/ptcap/plugin.so"), 0, "/lib/ptcap/plugin.so");
	module.path[0] = '\0';
	expect(plugin, PTC_E_NOT_EXIST, "");
}

Test(own_file, a_file_that_all_users_can_write_is_refused)
{
	cr_assert_eq(chmod(below("lib/ptcap/plugin.so"), 0777), 0);
	expect(plugin, PTC_E_PERM, "");
	expect(below("lib/ptcap/plugin.so"), PTC_E_PERM, "");
	expect("beside", 0, "/bin/beside");
}

Test(own_file, a_folder_that_all_users_can_write_is_refused)
{
	cr_assert_eq(chmod(below("lib"), 0777), 0);
	expect(plugin, PTC_E_PERM, "");
	cr_assert_eq(chmod(below("lib"), 01777), 0);
	expect(plugin, 0, "/lib/ptcap/plugin.so");
}

Test(own_file, a_folder_that_also_contains_the_module_is_not_checked)
{
	cr_assert_eq(chmod(root, 0777), 0);
	expect(plugin, 0, "/lib/ptcap/plugin.so");
	expect(below("lib/ptcap/plugin.so"), PTC_E_PERM, "");
}

Test(own_file, a_symbolic_link_is_refused)
{
	cr_assert_eq(symlink("plugin.so", below("lib/ptcap/link.so")), 0);
	cr_assert_eq(symlink("lib", below("lib64")), 0);
	expect("../lib/ptcap/link.so", PTC_E_PERM, "");
	expect("../lib64/ptcap/plugin.so", PTC_E_PERM, "");
}

Test(own_file, a_file_of_a_stranger_is_refused)
{
	skip_without_root();
	cr_assert_eq(chown(below("lib/ptcap/plugin.so"), 1234, (gid_t)-1), 0);
	expect(plugin, PTC_E_PERM, "");
	cr_assert_eq(chown(below("bin/tool"), 1234, (gid_t)-1), 0);
	expect(plugin, 0, "/lib/ptcap/plugin.so");
	cr_assert_eq(chown(below("lib/ptcap"), 1235, (gid_t)-1), 0);
	expect(plugin, PTC_E_PERM, "");
}

static void give_to_group(const char *name, mode_t mode)
{
	cr_assert_eq(chown(below(name), (uid_t)-1, 50), 0);
	cr_assert_eq(chmod(below(name), mode), 0);
}

Test(own_file, a_file_or_folder_of_root_that_a_group_can_write_is_refused)
{
	skip_without_root();
	expect(plugin, 0, "/lib/ptcap/plugin.so"); /* lib: 0775, of root's group */
	give_to_group("lib", 02775);
	expect(plugin, PTC_E_PERM, "");
	give_to_group("lib", 03775); /* with the sticky bit */
	expect(plugin, 0, "/lib/ptcap/plugin.so");
	give_to_group("lib", 02755);
	expect(plugin, 0, "/lib/ptcap/plugin.so");
	give_to_group("lib/ptcap/plugin.so", 0664);
	expect(plugin, PTC_E_PERM, "");
}

/* As the group staff in Debian's /usr/local: bin and lib are root:staff 2775. */
Test(own_file, a_group_that_can_replace_the_module_is_no_stranger)
{
	skip_without_root();
	give_to_group("lib", 02775);
	give_to_group("bin", 02775);
	expect(plugin, 0, "/lib/ptcap/plugin.so");
	expect("beside", 0, "/bin/beside");
	give_to_group("bin", 02755);
	expect(plugin, PTC_E_PERM, "");
	give_to_group("bin/tool", 0775);
	expect(plugin, 0, "/lib/ptcap/plugin.so");
	cr_assert_eq(chown(below("bin/tool"), (uid_t)-1, 51), 0);
	expect(plugin, PTC_E_PERM, "");
}

Test(own_file, a_user_decides_about_own_files_that_a_group_can_write)
{
	if (!geteuid()) {
		cr_assert_eq(chown(root, 1234, 1234), 0);
		cr_assert_eq(chown(below("lib"), 1234, 1234), 0);
		cr_assert_eq(setegid(1234), 0);
		cr_assert_eq(seteuid(1234), 0);
	}
	expect(plugin, 0, "/lib/ptcap/plugin.so");
	cr_assert(getuid() || (!seteuid(0) && !setegid(0)));
}

Test(own_file, the_module_of_a_static_program_is_the_program)
{
	struct ptc_own_module m;
	char self[PATH_MAX];

	ptc_own_module_find(&m);
	cr_assert_not_null(realpath("/proc/self/exe", self));
	cr_expect_str_eq(m.path, self);
	cr_expect_not(m.is_library);
}
