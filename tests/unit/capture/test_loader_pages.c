/* SPDX-License-Identifier: MIT */
/* Description: a debugger finds the libraries of a process in the kept pages, and their number is
 * bounded. */
#include <criterion/criterion.h>
#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/io.h"
#include "capture/crash/loader_pages.h"

enum { PAGE = 4096 };

static bool kept(const uint64_t *pages, size_t n, const void *addr)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (pages[i] == ((uint64_t)addr & ~(uint64_t)(PAGE - 1)))
			return true;
	return false;
}

Test(loader_pages, headers_and_all_link_maps_with_their_names_are_kept)
{
	uint64_t pages[PTC_LOADER_PAGES];
	struct ptc_buf auxv = PTC_BUF_INIT;
	const struct link_map *m;
	struct ptc_err err;
	const struct r_debug *debug = NULL;
	const Elf64_Dyn *dyn;
	size_t n, i, libraries = 0;

	for (dyn = _DYNAMIC; dyn->d_tag != DT_NULL; dyn++)
		if (dyn->d_tag == DT_DEBUG)
			debug = (const struct r_debug *)dyn->d_un.d_ptr;
	cr_assert_not_null(debug);
	cr_assert_eq(ptc_read_file("/proc/self/auxv", PAGE, &auxv, &err), 0, "%s", err.msg);
	n = ptc_loader_pages(getpid(), ptc_cur_init(auxv.bytes, auxv.len), pages);
	ptc_buf_release(&auxv);
	cr_assert(kept(pages, n, (const void *)getauxval(AT_PHDR)));
	cr_assert(kept(pages, n, _DYNAMIC) && kept(pages, n, debug));
	for (m = debug->r_map; m; m = m->l_next, libraries++) {
		cr_assert(kept(pages, n, m), "%s", m->l_name);
		cr_assert(kept(pages, n, m->l_name) &&
			  kept(pages, n, m->l_name + strlen(m->l_name)));
	}
	cr_assert_gt(libraries, 2);
	for (i = 0; i < n; i++)
		cr_assert(pages[i] % PAGE == 0 && (!i || pages[i - 1] < pages[i]));
}

/* A made-up program: its headers lead to a list of link maps. */
struct program {
	Elf64_Phdr headers[2];
	Elf64_Dyn dynamic[2];
	struct r_debug debug;
	struct link_map map;
	uint64_t auxv[6];
};

static void make_program(struct program *p)
{
	memset(p, 0, sizeof(*p));
	p->headers[0].p_type = PT_PHDR;
	p->headers[0].p_vaddr = 0x40;
	p->headers[1].p_type = PT_DYNAMIC;
	p->headers[1].p_vaddr = (uint64_t)p->dynamic - (uint64_t)p->headers + 0x40;
	p->dynamic[0].d_tag = DT_DEBUG;
	p->dynamic[0].d_un.d_ptr = (uint64_t)&p->debug;
	p->debug.r_map = &p->map;
	p->map.l_name = (char *)(uintptr_t) "name";
	p->auxv[0] = AT_PHNUM;
	p->auxv[1] = 2;
	p->auxv[2] = AT_PHDR;
	p->auxv[3] = (uint64_t)p->headers;
}

static size_t pages_of(const struct program *p, size_t auxv_len, uint64_t *pages)
{
	return ptc_loader_pages(getpid(), ptc_cur_init(p->auxv, auxv_len), pages);
}

Test(loader_pages, damaged_memory_ends_the_list)
{
	uint64_t pages[PTC_LOADER_PAGES];
	struct program p;
	size_t n;

	make_program(&p);
	n = pages_of(&p, sizeof(p.auxv), pages);
	cr_assert(kept(pages, n, &p.map) && kept(pages, n, p.map.l_name));
	p.map.l_next = &p.map; /* a cycle */
	cr_assert_eq(pages_of(&p, sizeof(p.auxv), pages), n);
	p.map.l_next = (struct link_map *)16;
	cr_assert_eq(pages_of(&p, sizeof(p.auxv), pages), n);
	p.map.l_name = (char *)16;
	cr_assert(!kept(pages, pages_of(&p, sizeof(p.auxv), pages), "name"));
	p.debug.r_map = (struct link_map *)UINT64_MAX;
	cr_assert_geq(pages_of(&p, sizeof(p.auxv), pages), 1);
	p.dynamic[0].d_tag = DT_NULL;
	cr_assert_geq(pages_of(&p, sizeof(p.auxv), pages), 1);
	p.auxv[3] = UINT64_MAX - 8;
	cr_assert_eq(pages_of(&p, sizeof(p.auxv), pages), 0);
	for (n = 0; n < 32; n++) /* a vector that is cut off */
		cr_assert_eq(pages_of(&p, n, pages), 0);
}

Test(loader_pages, there_is_a_limit)
{
	enum { MANY = PTC_LOADER_PAGES + 50 };
	static struct {
		struct link_map map;
		char name[PAGE - sizeof(struct link_map)];
	} list[MANY] __attribute__((aligned(PAGE)));
	uint64_t pages[PTC_LOADER_PAGES];
	struct program p;
	size_t i;

	make_program(&p);
	p.debug.r_map = &list[0].map;
	for (i = 0; i < MANY; i++) {
		list[i].map.l_name = list[i].name;
		list[i].map.l_next = i + 1 < MANY ? &list[i + 1].map : NULL;
	}
	cr_assert_eq(pages_of(&p, sizeof(p.auxv), pages), PTC_LOADER_PAGES);
	cr_assert(kept(pages, PTC_LOADER_PAGES, &list[0]));
}
