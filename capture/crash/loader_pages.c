/* SPDX-License-Identifier: MIT */
#include "capture/crash/loader_pages.h"

#include <elf.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "capture/host/target_memory.h"

enum {
	PAGE = 4096,
	HEADERS_MAX = 64, /* program headers of a program */
	DYNAMIC_MAX = 256 /* entries of a dynamic section */
};

struct loader_list {
	pid_t tid;
	uint64_t *pages; /* borrowed */
	size_t n;
};

/* Returns false if there is no room. */
static bool keep_page(struct loader_list *l, uint64_t page)
{
	size_t i;

	for (i = 0; i < l->n; i++)
		if (l->pages[i] == page)
			return true;
	if (l->n == PTC_LOADER_PAGES)
		return false;
	l->pages[l->n++] = page;
	return true;
}

/* Reads @len bytes at @addr, and keeps their pages. */
static bool keep_bytes(struct loader_list *l, uint64_t addr, void *ret, size_t len)
{
	const uint64_t first = addr & ~(uint64_t)(PAGE - 1);
	uint64_t page, end;

	if (__builtin_add_overflow(addr, len, &end) ||
	    ptc_memory_peek(l->tid, addr, ret, len) != len)
		return false;
	for (page = first; page < end; page += PAGE)
		if (!keep_page(l, page))
			return false;
	return true;
}

/* Keeps the pages of the string at @addr: one page, or two if the first has no end of it. */
static bool keep_name(struct loader_list *l, uint64_t addr)
{
	const size_t room = PAGE - (size_t)(addr & (PAGE - 1));
	char name[PAGE];

	if (!keep_bytes(l, addr, name, room))
		return false;
	return memchr(name, 0, room) || keep_bytes(l, addr + room, name, 1);
}

/* Get the entry @type of an auxiliary vector. */
static bool auxv_entry(struct ptc_cur auxv, uint64_t type, uint64_t *ret)
{
	uint64_t is;

	while (ptc_cur_le64(&auxv, &is) && ptc_cur_le64(&auxv, ret))
		if (is == type)
			return true;
	return false;
}

/* Finds the dynamic section. The headers at @addr are moved as far as PT_PHDR says. */
static bool find_dynamic(struct loader_list *l, uint64_t addr, uint64_t count, uint64_t *ret)
{
	uint64_t bias = 0, i;
	bool found = false;
	Elf64_Phdr ph;

	for (i = 0; i < count && i < HEADERS_MAX; i++) {
		if (!keep_bytes(l, addr + i * sizeof(ph), &ph, sizeof(ph)))
			return false;
		if (ph.p_type == PT_PHDR)
			bias = addr - ph.p_vaddr;
		if (ph.p_type == PT_DYNAMIC) {
			*ret = ph.p_vaddr;
			found = true;
		}
	}
	*ret += found ? bias : 0;
	return found;
}

/* Finds r_debug, which the loader entered into the dynamic section at @addr. */
static bool find_r_debug(struct loader_list *l, uint64_t addr, uint64_t *ret)
{
	Elf64_Dyn dyn;
	size_t i;

	*ret = 0;
	for (i = 0; i < DYNAMIC_MAX; i++) {
		if (!keep_bytes(l, addr + i * sizeof(dyn), &dyn, sizeof(dyn)) ||
		    dyn.d_tag == DT_NULL)
			break;
		if (dyn.d_tag == DT_DEBUG)
			*ret = dyn.d_un.d_ptr;
	}
	return *ret != 0;
}

static void keep_link_maps(struct loader_list *l, uint64_t r_debug_at)
{
	struct r_debug r;
	struct link_map m;
	uint64_t at;
	size_t i;

	if (!keep_bytes(l, r_debug_at, &r, sizeof(r)))
		return;
	at = (uint64_t)r.r_map;
	for (i = 0; at && i < PTC_LOADER_LIBRARIES; i++) {
		if (!keep_bytes(l, at, &m, sizeof(m)) || !keep_name(l, (uint64_t)m.l_name))
			return;
		at = (uint64_t)m.l_next;
	}
}

static int by_page(const void *pa, const void *pb)
{
	const uint64_t a = *(const uint64_t *)pa, b = *(const uint64_t *)pb;

	return a < b ? -1 : a > b;
}

size_t ptc_loader_pages(pid_t tid, struct ptc_cur auxv, uint64_t ret[PTC_LOADER_PAGES])
{
	struct loader_list l = { .tid = tid, .pages = ret };
	uint64_t headers, count, dynamic = 0, r_debug_at;

	if (auxv_entry(auxv, AT_PHDR, &headers) && auxv_entry(auxv, AT_PHNUM, &count) &&
	    find_dynamic(&l, headers, count, &dynamic) && find_r_debug(&l, dynamic, &r_debug_at))
		keep_link_maps(&l, r_debug_at);
	if (l.n)
		qsort(ret, l.n, sizeof(*ret), by_page);
	return l.n;
}
