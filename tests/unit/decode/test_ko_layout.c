/* SPDX-License-Identifier: MIT */
/* Description: where a kernel module's code is loaded, where its file is, and its names. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "base/budget.h"
#include "base/io.h"
#include "decode/elf/decompress.h"
#include "decode/elf/ko_layout.h"
#include "decode/image/codefile.h"
#include "decode/image/kernel.h"
#include "decode/symbols/symbol.h"
#include "lib_elf.h"
#include "ptcap/memory.h"

#define MODULE 0xffffffffc0000000ull
static const char unloadable[] = "6.1.0 SMP preempt mod_unload modversions ";

/* --- the layout ------------------------------------------------------------------------------- */

static void lay_out(const struct ptc_buf *b, struct ptc_module_layout *ret)
{
	Elf *elf;

	(void)elf_version(EV_CURRENT);
	elf = elf_memory((char *)b->bytes, b->len);
	cr_assert(ptc_module_layout(elf, ret));
	elf_end(elf);
}

Test(ko_layout, code_lies_in_the_order_of_the_file_without_what_is_for_the_start)
{
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_module_layout l;

	le_module(&b, 1, unloadable);
	lay_out(&b, &l);
	cr_assert_eq(ptc_module_place(&l, LE_NOINSTR), 0);
	cr_assert_eq(ptc_module_place(&l, LE_TEXT), 0x20);
	cr_assert_eq(ptc_module_place(&l, LE_EXIT), 0x50);
	cr_assert_eq(ptc_module_place(&l, LE_LATE), 0x60);
	cr_assert_eq(l.size, 0x70);
	cr_assert_eq(ptc_module_place(&l, LE_INIT), PTC_MODULE_NOWHERE);
	cr_assert_eq(ptc_module_place(&l, LE_DATA), PTC_MODULE_NOWHERE);
	cr_assert_eq(ptc_module_place(&l, 1000), PTC_MODULE_NOWHERE);
	ptc_module_layout_release(&l);
	ptc_buf_release(&b);
}

Test(ko_layout, without_unloading_the_end_is_not_there)
{
	/* The word is in the release, or part of another word: neither counts. */
	static const char *const magics[] = { "6.1.0", "mod_unload SMP", "6.1.0 mod_unload_not" };
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_module_layout l;
	size_t i;

	for (i = 0; i < sizeof(magics) / sizeof(magics[0]); i++) {
		le_module(&b, 1, magics[i]);
		lay_out(&b, &l);
		cr_assert_eq(ptc_module_place(&l, LE_EXIT), PTC_MODULE_NOWHERE);
		cr_assert_eq(ptc_module_place(&l, LE_LATE), 0x50);
		ptc_module_layout_release(&l);
	}
	ptc_buf_release(&b);
}

Test(ko_layout, what_is_no_module_has_no_layout)
{
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_module_layout l;

	le_module(&b, 1, NULL);
	lay_out(&b, &l);
	cr_assert_eq(l.n, 0);
	le_program(&b, 0x400000, 1, "", 1);
	lay_out(&b, &l);
	cr_assert_eq(l.n, 0);
	ptc_buf_release(&b);
}

Test(ko_layout, sizes_and_alignments_that_cannot_be_give_none)
{
	struct ptc_module_layout l;
	struct ptc_buf b = PTC_BUF_INIT;
	Elf64_Ehdr eh;
	Elf64_Shdr sh;
	size_t at, i;

	for (i = 0; i < 3; i++) {
		le_module(&b, 1, unloadable);
		memcpy(&eh, b.bytes, sizeof(eh));
		at = eh.e_shoff + LE_TEXT * sizeof(sh);
		memcpy(&sh, b.bytes + at, sizeof(sh));
		if (i == 0)
			sh.sh_addralign = 24;
		else if (i == 1)
			sh.sh_size = UINT64_MAX - 8;
		else
			sh.sh_addralign = 1ull << 62;
		memcpy(b.bytes + at, &sh, sizeof(sh));
		lay_out(&b, &l);
		cr_assert_eq(l.n, 0, "%zu", i);
	}
	ptc_buf_release(&b);
}

/* --- names ------------------------------------------------------------------------------------ */

struct test {
	char dir[64];
	struct ptc_codefiles files;
	struct ptc_kernel k;
	struct ptc_kernel_maps maps;
	struct ptc_build_id id;
};

static void look_again(struct test *t)
{
	struct ptc_err err;

	cr_assert_eq(ptc_search_init(&t->files.search, t->dir, t->dir, "6.1.0", &err), 0);
	t->files.search.left = &t->files.left;
	t->k.wanted = true;
}

static void begin(struct test *t, uint8_t id)
{
	memset(t, 0, sizeof(*t));
	le_folder(t->dir, sizeof(t->dir));
	look_again(t);
	if (id) {
		t->id.len = 20;
		memset(t->id.bytes, 0x11, 20);
		t->id.bytes[0] = id;
	}
}

static void forget(struct test *t)
{
	ptc_kernel_maps_release(&t->maps);
	ptc_kernel_release(&t->k);
	ptc_codefiles_release(&t->files);
	memset(&t->maps, 0, sizeof(t->maps));
	memset(&t->k, 0, sizeof(t->k));
	memset(&t->files, 0, sizeof(t->files));
}

static void end(struct test *t)
{
	forget(t);
	le_folder_remove(t->dir);
}

static void put(struct test *t, const char *name, uint8_t id)
{
	struct ptc_buf b = PTC_BUF_INIT;

	le_module(&b, id, unloadable);
	le_write(t->dir, name, &b);
	ptc_buf_release(&b);
}

static void put_text(struct test *t, const char *name, const char *text)
{
	const struct ptc_buf b = { (uint8_t *)(uintptr_t)text, strlen(text), 0, false };

	le_write(t->dir, name, &b);
}

static struct ptc_codefile *map(struct test *t, const char *name)
{
	const struct ptc_sb_mmap m = { .pid = -1, .addr = MODULE, .len = 0x4000, .filename = name };

	cr_assert(ptc_kernel_mmap(&t->k, &t->maps, &t->files, &m, t->id.len ? &t->id : NULL));
	return ptc_codefiles_absent(&t->files, name, t->id.len ? &t->id : NULL);
}

static const char *name_at(struct test *t, uint64_t off)
{
	static char text[64];
	uint64_t in;
	const char *name = ptc_kernel_symbol(&t->k, &t->maps, MODULE + off, 0, &in);

	snprintf(text, sizeof(text), "%s+%x", name ? name : "", name ? (unsigned int)in : 0);
	return text;
}

#define PATH "/lib/modules/6.1.0/kernel/sound/snd-pcm.ko"

Test(ko_layout, each_address_has_the_name_of_what_lies_there)
{
	struct test t;

	begin(&t, 1);
	put(&t, PATH, 1);
	map(&t, PATH);
	cr_assert_str_eq(name_at(&t, 0), "m_noinstr+0");
	cr_assert_str_eq(name_at(&t, 0x10), "m_noinstr+10");
	cr_assert_str_eq(name_at(&t, 0x11), "+0", "what fills up to the next one");
	cr_assert_str_eq(name_at(&t, 0x20), "m_text+0");
	cr_assert_str_eq(name_at(&t, 0x4f), "m_text+2f");
	cr_assert_str_eq(name_at(&t, 0x50), "m_exit+0");
	cr_assert_str_eq(name_at(&t, 0x61), "m_late+1");
	cr_assert_str_eq(name_at(&t, 0x70), "+0");
	cr_assert_str_eq(name_at(&t, 0x3fff), "+0");
	cr_assert_str_eq(name_at(&t, 0x4000), "+0");
	end(&t);
}

Test(ko_layout, a_file_of_another_build_gives_no_names)
{
	struct ptc_codefile *f;
	struct test t;

	begin(&t, 1);
	put(&t, PATH, 2);
	f = map(&t, PATH);
	cr_assert_str_eq(name_at(&t, 0), "+0");
	cr_assert(f->other_path && strstr(f->other_path, "snd-pcm.ko"));
	cr_assert_eq(f->other_id.bytes[0], 2);
	end(&t);
	/* Nor is a file without a build-id, if the recording has one. */
	begin(&t, 1);
	put(&t, PATH, 0);
	f = map(&t, PATH);
	cr_assert_str_eq(name_at(&t, 0), "+0");
	cr_assert(f->other_path);
	end(&t);
}

Test(ko_layout, without_a_build_id_the_path_is_believed_which_is_said)
{
	struct ptc_codefile *f;
	struct test t;

	begin(&t, 0);
	put(&t, PATH, 2);
	f = map(&t, PATH);
	cr_assert_str_eq(name_at(&t, 0), "m_noinstr+0");
	cr_assert(f->assumed);
	end(&t);
}

Test(ko_layout, a_fifo_that_is_called_modules_dep_is_not_waited_for, .timeout = 60)
{
	char path[256];
	struct test t;

	begin(&t, 0);
	put_text(&t, "/lib/modules/6.1.0/modules.dep", "");
	(void)snprintf(path, sizeof(path), "%s/lib/modules/6.1.0/modules.dep", t.dir);
	cr_assert(!unlink(path) && !mkfifo(path, 0600));
	(void)map(&t, "[snd_pcm]");
	cr_assert_str_eq(name_at(&t, 0), "+0");
	end(&t);
}

Test(ko_layout, one_that_has_a_name_only_is_in_the_list_of_its_kernel)
{
	static const char list[] = "kernel/sound/snd-pcm-oss.ko:\n"
				   "kernel/net/snd_pcm: kernel/x/snd-pcm.ko\n"
				   "kernel/sound/snd-pcm.ko: kernel/sound/snd.ko";
	struct test t;

	begin(&t, 1);
	put(&t, PATH, 1);
	put(&t, "/lib/modules/6.1.0/kernel/sound/snd-pcm-oss.ko", 1);
	put_text(&t, "/lib/modules/6.1.0/modules.dep", list);
	map(&t, "[snd_pcm]");
	cr_assert_str_eq(name_at(&t, 0), "m_noinstr+0");
	map(&t, "[snd]");
	cr_assert_str_eq(name_at(&t, 0), "+0");
	/* At another place. */
	map(&t, "/lib/modules/6.1.0/extra/snd-pcm.ko.xz");
	cr_assert_str_eq(name_at(&t, 0), "m_noinstr+0");
	end(&t);
	begin(&t, 1);
	put(&t, PATH, 2);
	put(&t, "/.build-id/01/11111111111111111111111111111111111111/elf", 1);
	map(&t, PATH);
	cr_assert_str_eq(name_at(&t, 0), "m_noinstr+0", "perf's cache has it");
	map(&t, "[snd_pcm]");
	cr_assert_str_eq(name_at(&t, 0), "m_noinstr+0");
	end(&t);
}

Test(ko_layout, names_that_are_of_no_module_are_not_looked_for)
{
	static const char *const names[] = { "[kernel.kallsyms]_text",
					     "[guest.kernel.kallsyms]",
					     "bpf_prog_0102",
					     "[]",
					     "[x",
					     "/etc/passwd",
					     "x.ko",
					     "/x.kode" };
	struct ptc_build_id none = { .len = 0 };
	struct ptc_found found;
	struct test t;
	size_t i;

	begin(&t, 0);
	put(&t, "x.ko", 1);
	put(&t, "x.kode", 1);
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		ptc_search_module(&t.files.search, names[i], &none, &found);
		cr_assert_eq(found.fd, -1, "%s", names[i]);
		ptc_found_release(&found);
	}
	end(&t);
}

Test(ko_layout, packed_files_are_unpacked)
{
	static const struct {
		const char *tool, *suffix;
	} sorts[] = { { "gzip", "gz" }, { "xz", "xz" }, { "zstd -q --rm", "zst" } };
	char cmd[256], name[128];
	struct test t;
	size_t i;

	for (i = 0; i < sizeof(sorts) / sizeof(sorts[0]); i++) {
		begin(&t, 1);
		put(&t, PATH, 1);
		snprintf(cmd, sizeof(cmd), "%s '%s%s'", sorts[i].tool, t.dir, PATH);
		if (!system(cmd)) {
			snprintf(name, sizeof(name), PATH ".%s", sorts[i].suffix);
			map(&t, name);
			cr_assert_str_eq(name_at(&t, 0x61), "m_late+1", "%s", name);
		}
		end(&t);
	}
}

Test(ko_layout, a_packed_file_that_is_cut_is_no_crash)
{
	static const char *const sorts[] = { "gz", "xz", "zst" };
	struct ptc_buf whole = PTC_BUF_INIT;
	char cmd[256], name[160];
	struct ptc_err err;
	struct test t;
	size_t i, n;

	begin(&t, 1);
	put(&t, "a", 1);
	snprintf(cmd, sizeof(cmd), "cd '%s'; gzip -k a; xz -k a; zstd -q a", t.dir);
	(void)!system(cmd);
	for (i = 0; i < sizeof(sorts) / sizeof(sorts[0]); i++) {
		snprintf(name, sizeof(name), "%s/a.%s", t.dir, sorts[i]);
		if (ptc_read_file(name, 1 << 20, &whole, &err))
			continue;
		for (n = 0; n <= whole.len; n++) {
			const int fd = memfd_create("cut", 0);
			struct ptc_unpacked u;
			bool unpacked;

			cr_assert_eq(write(fd, whole.bytes, n), (ssize_t)n);
			unpacked = ptc_unpack(fd, n, &u);
			cr_assert(n != whole.len || (unpacked && u.len > 1000), "%s", name);
			cr_assert(n == whole.len || !unpacked, "%s: %zu", name, n);
			close(fd);
			ptc_unpacked_release(&u);
		}
	}
	ptc_buf_release(&whole);
	end(&t);
}

Test(ko_layout, a_packed_file_that_is_too_large_is_said)
{
	enum { LEN = 8 << 20 };
	uint8_t *zeros = calloc(1, LEN), *packed = malloc(LEN);
	struct ptc_buf b = { packed, ZSTD_compress(packed, LEN, zeros, LEN, 1), 0, false };
	struct test t;

	begin(&t, 0);
	le_write(t.dir, PATH ".zst", &b);
	free(zeros);
	free(packed);
	ptc_memory_set_limit((uint64_t)1 << 40);
	ptc_memory_set_limit(((uint64_t)1 << 40) - ptc_budget_left() + LEN / 2);
	map(&t, PATH ".zst");
	cr_assert_str_eq(name_at(&t, 0), "+0");
	cr_assert_eq(t.files.left.n, 1);
	cr_assert_str_eq(t.files.left.v[0].what, "unpacked form");
	end(&t);
}

Test(ko_layout, a_packed_file_that_is_damaged_is_none)
{
	static const uint8_t magics[][6] = { { 0x1f, 0x8b, 8 },
					     { 0xfd, '7', 'z', 'X', 'Z' },
					     { 'B', 'Z', 'h', '9' },
					     { 0x28, 0xb5, 0x2f, 0xfd } };
	struct ptc_buf b = PTC_BUF_INIT;
	struct test t;
	size_t i;

	for (i = 0; i < sizeof(magics) / sizeof(magics[0]); i++) {
		begin(&t, 1);
		ptc_buf_reset(&b);
		ptc_buf_put(&b, magics[i], 6);
		ptc_buf_zero(&b, 50);
		le_write(t.dir, PATH ".xz", &b);
		map(&t, PATH ".xz");
		cr_assert_str_eq(name_at(&t, 0), "+0");
		end(&t);
	}
	ptc_buf_release(&b);
}

Test(ko_layout, a_file_that_is_cut_names_nothing_wrongly)
{
	struct ptc_buf whole = PTC_BUF_INIT, cut = PTC_BUF_INIT;
	const char *name;
	struct test t;
	size_t n;

	le_module(&whole, 0, unloadable);
	begin(&t, 0);
	for (n = 0; n <= whole.len; n++) {
		forget(&t);
		look_again(&t);
		ptc_buf_reset(&cut);
		ptc_buf_put(&cut, whole.bytes, n);
		le_write(t.dir, PATH, &cut);
		map(&t, PATH);
		name = name_at(&t, 0x61);
		cr_assert(!strcmp(name, n == whole.len ? "m_late+1" : "+0"), "%zu: %s", n, name);
	}
	end(&t);
	ptc_buf_release(&whole);
	ptc_buf_release(&cut);
}

Test(ko_layout, names_of_kallsyms_come_first)
{
	struct test t;

	begin(&t, 1);
	put(&t, PATH, 1);
	cr_assert(ptc_text_symbols_kallsyms(&t.k.names,
					    "ffffffffc0000000 t by_kallsyms\t[snd_pcm]\n"
					    "ffffffffc0000020 t other\t[snd_pcm]\n"));
	t.k.names.names[1].size = 1;
	ptc_text_symbols_sort(&t.k.names);
	map(&t, PATH);
	cr_assert_str_eq(name_at(&t, 4), "by_kallsyms+4");
	cr_assert_str_eq(name_at(&t, 0x21), "m_text+1");
	t.maps.other_boot = true;
	cr_assert_str_eq(name_at(&t, 4), "m_noinstr+4");
	end(&t);
}
