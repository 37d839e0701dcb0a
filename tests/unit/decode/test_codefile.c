/* SPDX-License-Identifier: MIT */
/* Description: files are found by build-id at any place; files may change while they are used. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "decode/image/addrspace.h"
#include "decode/image/codefile.h"
#include "decode/image/own_vdso.h"
#include "lib_elf.h"

static const char code[] = "the code of it";

struct world {
	char dir[64];
	struct ptc_codefiles files;
	struct ptc_buf elf;
};

static void begin(struct world *w, bool symfs)
{
	struct ptc_err err;
	char cache[80];

	memset(w, 0, sizeof(*w));
	le_folder(w->dir, sizeof(w->dir));
	snprintf(cache, sizeof(cache), "%s/cache", w->dir);
	cr_assert_eq(ptc_search_init(&w->files.search, symfs ? w->dir : NULL, cache, NULL, &err),
		     0);
}

static void end(struct world *w)
{
	ptc_codefiles_release(&w->files);
	ptc_buf_release(&w->elf);
	le_folder_remove(w->dir);
}

static struct ptc_build_id id_of(uint8_t first)
{
	struct ptc_build_id id = { .len = 20 };

	memset(id.bytes, 0x11, sizeof(id.bytes));
	id.bytes[0] = first;
	return id;
}

/* Writes a program with build-id @id as NAME to the folder, and gets its path. */
static void put(struct world *w, uint8_t id, const char *name, char path[512])
{
	le_program(&w->elf, 0x400000, id, code, sizeof(code));
	snprintf(path, 512, "%s", le_write(w->dir, name, &w->elf));
}

static bool has_code(struct ptc_codefile *f)
{
	ptc_codefile_fill(f, LE_CODE_OFF, sizeof(code));
	return ptc_codefile_has(f, LE_CODE_OFF, sizeof(code)) == sizeof(code) &&
	       !memcmp(f->bytes + LE_CODE_OFF, code, sizeof(code));
}

Test(codefile, the_file_at_the_path_if_it_has_the_build_id)
{
	struct ptc_build_id id = id_of(1);
	struct ptc_codefile *f;
	char path[512];
	struct world w;

	begin(&w, false);
	put(&w, 1, "a", path);
	f = ptc_codefiles_get(&w.files, path, &id, -1);
	cr_assert(has_code(f));
	cr_assert_str_eq(f->path, path);
	cr_assert(!f->assumed);
	cr_assert_null(f->other_path);
	cr_assert_eq(ptc_codefiles_get(&w.files, path, &id, 7), f);
	end(&w);
}

Test(codefile, without_a_build_id_the_path_is_believed_and_that_is_known)
{
	struct ptc_codefile *f;
	char path[512];
	struct world w;

	begin(&w, false);
	put(&w, 1, "a", path);
	f = ptc_codefiles_get(&w.files, path, NULL, -1);
	cr_assert(has_code(f));
	cr_assert(f->assumed);
	end(&w);
}

Test(codefile, another_file_at_the_path_is_not_used_and_the_search_goes_on)
{
	struct ptc_build_id id = id_of(1), is = id_of(2);
	struct ptc_codefile *f;
	char path[512], cached[512], name[128];
	struct world w;

	begin(&w, false);
	put(&w, 2, "a", path);
	f = ptc_codefiles_get(&w.files, path, &id, -1);
	cr_assert_null(f->bytes);
	cr_assert_str_eq(f->other_path, path);
	cr_assert(ptc_build_id_same(&f->other_id, &is));
	end(&w);

	begin(&w, false);
	put(&w, 2, "a", path);
	snprintf(name, sizeof(name), "cache/.build-id/01/%s/elf", le_id(1) + 2);
	put(&w, 1, name, cached);
	f = ptc_codefiles_get(&w.files, path, &id, -1);
	cr_assert(has_code(f));
	cr_assert_str_eq(f->path, cached);
	cr_assert_str_eq(f->other_path, path);
	end(&w);
}

Test(codefile, what_the_cache_has_under_an_id_must_have_it)
{
	struct ptc_build_id id = id_of(1);
	char path[512], name[128];
	struct world w;

	begin(&w, false);
	snprintf(name, sizeof(name), "cache/.build-id/01/%s/elf", le_id(1) + 2);
	put(&w, 3, name, path);
	cr_assert_null(ptc_codefiles_get(&w.files, "/nowhere/a", &id, -1)->bytes);
	/* In old caches the entry was the file itself. */
	id = id_of(4);
	snprintf(name, sizeof(name), "cache/.build-id/04/%s", le_id(4) + 2);
	put(&w, 4, name, path);
	cr_assert(has_code(ptc_codefiles_get(&w.files, "/nowhere/a", &id, -1)));
	end(&w);
}

Test(codefile, symfs_goes_in_front_of_every_path)
{
	struct ptc_build_id id = id_of(1);
	struct ptc_codefile *f;
	char path[512], other[512];
	struct world w;

	begin(&w, true);
	put(&w, 1, "usr/lib/a", path);
	f = ptc_codefiles_get(&w.files, "/usr/lib/a", &id, -1);
	cr_assert(has_code(f));
	cr_assert(has_code(ptc_codefiles_get(&w.files, "/usr/lib/a", NULL, -1)));
	/* The path itself is trusted only with a build-id, because it belongs to another root. */
	put(&w, 5, "b", other);
	id = id_of(5);
	cr_assert(has_code(ptc_codefiles_get(&w.files, other, &id, -1)));
	cr_assert_null(ptc_codefiles_get(&w.files, other, NULL, -1)->bytes);
	end(&w);
}

Test(codefile, the_name_of_a_deleted_file_is_that_without_the_remark)
{
	struct ptc_build_id id = id_of(1);
	char path[512], name[600];
	struct world w;

	begin(&w, false);
	put(&w, 1, "a", path);
	snprintf(name, sizeof(name), "%s (deleted)", path);
	cr_assert(has_code(ptc_codefiles_get(&w.files, name, &id, -1)));
	end(&w);
}

Test(codefile, a_container_s_file_is_found_below_the_root_of_its_process)
{
	struct ptc_build_id id = id_of(1), other = id_of(2);
	int up[2], down[2];
	char path[512], byte;
	struct world w;
	pid_t pid;

	begin(&w, false);
	put(&w, 1, "in the container", path);
	cr_assert(!pipe(up) && !pipe(down));
	pid = fork();
	cr_assert(pid >= 0);
	if (!pid) {
		close(down[1]);
		byte = chroot(w.dir) ? 'n' : 'y';
		if (write(up[1], &byte, 1) != 1 || read(down[0], &byte, 1))
			_exit(1);
		_exit(0);
	}
	cr_assert_eq(read(up[0], &byte, 1), 1);
	if (byte == 'y') {
		cr_assert(has_code(ptc_codefiles_get(&w.files, "/in the container", &id, pid)));
		cr_assert_null(
			ptc_codefiles_get(&w.files, "/in the container", &other, pid)->bytes);
		cr_assert_null(ptc_codefiles_get(&w.files, "/in the container", NULL, pid)->bytes);
	}
	close(down[1]);
	cr_assert_eq(waitpid(pid, NULL, 0), pid);
	close(down[0]);
	close(up[0]);
	close(up[1]);
	end(&w);
	if (byte != 'y')
		cr_skip_test("chroot is not allowed here");
}

Test(codefile, a_file_cut_short_while_it_is_used_does_no_harm)
{
	struct ptc_build_id id = id_of(1);
	struct ptc_addrspace as = { .version = 0 };
	struct ptc_codefile *f;
	char path[512], got[sizeof(code)];
	struct world w;

	begin(&w, false);
	put(&w, 1, "a", path);
	f = ptc_codefiles_get(&w.files, path, &id, -1);
	cr_assert(ptc_addrspace_map(&as, 0x10000, 0x1000, LE_CODE_OFF, f));
	cr_assert_eq(truncate(path, 0), 0);
	cr_assert_eq(ptc_addrspace_read(&as, 0x10000, (uint8_t *)got, sizeof(got)), sizeof(got));
	cr_assert_str_eq(got, code);
	/* Bytes that were not read by then are missing, which is recorded. */
	cr_assert(ptc_addrspace_map(&as, 0x20000, 0x1000, 0, f));
	cr_assert(!ptc_addrspace_has(&as, 0x20000));
	cr_assert(f->unreadable && f->changed);
	ptc_addrspace_release(&as);
	end(&w);
}

Test(codefile, a_file_that_was_replaced_is_not_read_as_if_it_were_the_same)
{
	struct ptc_build_id id = id_of(1);
	struct ptc_codefile *f;
	char path[512];
	struct world w;

	begin(&w, false);
	put(&w, 1, "a", path);
	f = ptc_codefiles_get(&w.files, path, &id, -1);
	put(&w, 2, "a", path);
	cr_assert(!has_code(f));
	cr_assert(f->changed);
	end(&w);
}

Test(codefile, only_what_was_read_is_there)
{
	struct ptc_codefile *f;
	struct ptc_buf big = PTC_BUF_INIT;
	struct world w;

	begin(&w, false);
	ptc_buf_zero(&big, 0x5001);
	big.bytes[0x5000] = 1;
	f = ptc_codefiles_get(&w.files, le_write(w.dir, "a", &big), NULL, -1);
	cr_assert_eq(ptc_codefile_has(f, 0, 1), 0);
	ptc_codefile_fill(f, 0x1fff, 2);
	cr_assert_eq(ptc_codefile_has(f, 0x0fff, 1), 0);
	cr_assert_eq(ptc_codefile_has(f, 0x1000, 0x5000), 0x2000);
	ptc_codefile_fill(f, 0x4800, UINT64_MAX);
	cr_assert_eq(ptc_codefile_has(f, 0x4000, 0x5000), 0x1001);
	cr_assert_eq(ptc_codefile_has(f, 0x2fff, 0x5000), 1);
	cr_assert_eq(ptc_codefile_has(f, 0x5001, 1), 0);
	cr_assert_eq(f->bytes[0x5000], 1);
	ptc_buf_release(&big);
	end(&w);
}

/* libipt recognizes a file by its size and modification time. */
Test(codefile, the_file_that_holds_the_code_does_not_seem_to_change)
{
	struct ptc_buf big = PTC_BUF_INIT;
	struct stat before, after;
	struct ptc_codefile *f;
	struct world w;

	begin(&w, false);
	ptc_buf_zero(&big, 0x3000);
	f = ptc_codefiles_get(&w.files, le_write(w.dir, "a", &big), NULL, -1);
	if (!f->piece.path)
		cr_skip_test("no memfd, or no /proc");
	ptc_codefile_fill(f, 0, 1);
	cr_assert_eq(stat(f->piece.path, &before), 0);
	ptc_codefile_fill(f, 0x1000, 0x2000);
	f = ptc_codefiles_get(&w.files, le_write(w.dir, "b", &big), NULL, -1);
	ptc_codefile_fill(f, 0, 0x3000);
	cr_assert_eq(stat(f->piece.path, &after), 0);
	cr_assert_eq(before.st_size, after.st_size);
	cr_assert_eq(before.st_mtim.tv_sec, after.st_mtim.tv_sec);
	cr_assert_eq(before.st_mtim.tv_nsec, after.st_mtim.tv_nsec);
	ptc_buf_release(&big);
	end(&w);
}

Test(codefile, what_is_no_regular_file_is_not_opened)
{
	static const char *const names[] = { "/", "/dev/zero", "/dev/null", "/proc/self/maps", "" };
	struct world w;
	size_t i;

	begin(&w, false);
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		cr_assert_null(ptc_codefiles_get(&w.files, names[i], NULL, -1)->bytes);
	end(&w);
}

Test(codefile, many_files_are_told_apart)
{
	struct ptc_codefile *f[500];
	struct ptc_build_id id = id_of(1);
	char name[32];
	struct world w;
	size_t i;

	begin(&w, false);
	for (i = 0; i < 500; i++) {
		snprintf(name, sizeof(name), "/nowhere/%zu", i);
		f[i] = ptc_codefiles_get(&w.files, name, NULL, -1);
		cr_assert_str_eq(f[i]->name, name);
	}
	for (i = 0; i < 500; i++) {
		snprintf(name, sizeof(name), "/nowhere/%zu", i);
		cr_assert_eq(ptc_codefiles_get(&w.files, name, NULL, -1), f[i]);
		cr_assert_neq(ptc_codefiles_get(&w.files, name, &id, -1), f[i]);
	}
	cr_assert_eq(w.files.n, 1000);
	end(&w);
}

Test(codefile, files_of_one_name_and_inode_on_two_devices_are_two)
{
	const struct ptc_file_mark a = { .ino = 7, .maj = 8, .min = 1 },
				   b = { .ino = 7, .maj = 8, .min = 2 };
	struct ptc_codefile *f;
	struct world w;

	begin(&w, false);
	f = ptc_codefiles_get_mapped(&w.files, "/nowhere/a", NULL, &a, -1);
	cr_assert_neq(ptc_codefiles_get_mapped(&w.files, "/nowhere/a", NULL, &b, -1), f);
	cr_assert_eq(ptc_codefiles_get_mapped(&w.files, "/nowhere/a", NULL, &a, -1), f);
	end(&w);
}

Test(codefile, the_vdso_of_a_32_bit_process_is_another_one)
{
	const struct ptc_file_mark low = { .low = true }, high = { .low = false };
	struct ptc_codefile *f, *g;
	struct utsname own;
	struct world w;

	begin(&w, false);
	cr_assert(!uname(&own) && !w.files.search.osrelease);
	w.files.search.osrelease = strdup(own.release);
	f = ptc_codefiles_get_mapped(&w.files, "[vdso]", NULL, &low, -1);
	g = ptc_codefiles_get_mapped(&w.files, "[vdso]", NULL, &high, -1);
	cr_assert_neq(f, g);
	cr_assert(!f->bytes, "that of this 64-bit process");
	cr_assert_eq(!g->bytes, !ptc_vdso_self(&(size_t){ 0 }));
	end(&w);
}

/* Returns the peak size of this process's address space, in KiB. */
static long peak(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[256];
	long kib = -1;

	cr_assert(f);
	while (kib < 0 && fgets(line, sizeof(line), f))
		(void)sscanf(line, "VmPeak: %ld", &kib);
	(void)fclose(f);
	cr_assert(kib >= 0);
	return kib;
}

Test(codefile, a_size_that_is_not_believable_asks_for_no_memory)
{
	static const uint8_t page[0x1000];
	struct ptc_codefile *f;
	struct world w;
	long before;

	begin(&w, false);
	f = ptc_codefiles_new(&w.files, "//gone");
	before = peak();
	cr_assert(!ptc_codefile_give(f, (uint64_t)1 << 46, 0, page, sizeof(page)));
	cr_assert(!ptc_codefile_give(f, UINT64_MAX, 0, page, sizeof(page)));
	cr_assert(peak() - before < 1024, "%ld KiB", peak() - before);
	end(&w);
}

Test(codefile, sizes_that_are_claimed_leave_addresses_for_everything_else)
{
	enum { FIT = PTC_CODE_MEMFD_ROOM_MAX / PTC_CODE_MEMFD_PIECE_MAX };
	static const uint8_t page[0x1000] = { 0xc3 };
	struct ptc_codefile *f;
	struct world w;
	int i;

	begin(&w, false);
	for (i = 0; i <= FIT; i++) {
		f = ptc_codefiles_new(&w.files, "//gone");
		cr_assert_eq(ptc_codefile_give(f, PTC_CODE_MEMFD_PIECE_MAX, 0, page, sizeof(page)),
			     i < FIT);
	}
	end(&w);
}

/* sendfile(2) refuses the memory of a process, as it refuses kcore. */
Test(codefile, a_file_that_sendfile_refuses_is_read)
{
	static uint8_t page[4096] __attribute__((aligned(4096))) = "code in memory";
	const uint64_t src = (uint64_t)(uintptr_t)page;
	const int fd = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	struct ptc_codefiles files = { .n = 0 };
	struct ptc_codefile *f = ptc_codefiles_new(&files, "memory");

	if (fd < 0)
		cr_skip_test("no /proc/self/mem");
	cr_assert(ptc_codefile_supply(f, 2 * sizeof(page), sizeof(page), sizeof(page), fd, src));
	cr_assert_eq(ptc_codefile_has(f, sizeof(page), sizeof(page)), sizeof(page));
	cr_assert_arr_eq(f->bytes + sizeof(page), page, sizeof(page));
	cr_assert_eq(ptc_codefile_has(f, 0, sizeof(page)), 0);
	(void)close(fd);
	ptc_codefiles_release(&files);
}
