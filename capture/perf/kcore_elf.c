/* SPDX-License-Identifier: MIT */
#include "capture/perf/kcore_elf.h"

#include <assert.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

static_assert(sizeof(Elf64_Ehdr) == PTC_KCORE_EHDR, "elf(5)");
static_assert(PTC_KCORE_EHDR + PTC_KCORE_SEGS_MAX * sizeof(Elf64_Phdr) <= PTC_KCORE_ROOM,
	      "the header of a copy fits");

struct head {
	uint64_t phoff;
	uint16_t phentsize, phnum;
};

/* Fields: e_ident; e_type and e_machine, e_version; e_entry; then phoff, shoff, flags, ehsize. */
static int parse_ehdr(struct ptc_cur c, struct head *ret, struct ptc_err *err)
{
	const uint8_t *ident;
	uint16_t type, machine;

	if (!ptc_cur_bytes(&c, EI_NIDENT, &ident) || !ptc_cur_le16(&c, &type) ||
	    !ptc_cur_le16(&c, &machine) || !ptc_cur_skip(&c, 12) ||
	    !ptc_cur_le64(&c, &ret->phoff) || !ptc_cur_skip(&c, 14) ||
	    !ptc_cur_le16(&c, &ret->phentsize) || !ptc_cur_le16(&c, &ret->phnum))
		return ptc_fail(err, PTC_E_FORMAT, "its ELF header is cut");
	if (memcmp(ident, ELFMAG, SELFMAG) != 0 || ident[EI_CLASS] != ELFCLASS64 ||
	    ident[EI_DATA] != ELFDATA2LSB || machine != EM_X86_64 || type != ET_CORE)
		return ptc_fail(err, PTC_E_FORMAT, "it is no core of x86-64");
	if (ret->phentsize != sizeof(Elf64_Phdr) || ret->phnum == PN_XNUM)
		return ptc_fail(err, PTC_E_FORMAT, "its program headers are of an unknown form");
	return 0;
}

int ptc_kcore_head_len(struct ptc_cur head, size_t *ret, struct ptc_err *err)
{
	struct head h = { .phnum = 0 };
	int rc = parse_ehdr(head, &h, err);

	if (rc)
		return rc;
	if (h.phoff > PTC_KCORE_HEAD_MAX / 2)
		return ptc_fail(err, PTC_E_LIMIT, "its program headers are too far behind");
	*ret = (size_t)h.phoff + (size_t)h.phnum * h.phentsize;
	if (*ret < PTC_KCORE_EHDR)
		*ret = PTC_KCORE_EHDR;
	return *ret <= PTC_KCORE_HEAD_MAX ?
		       0 :
		       ptc_fail(err, PTC_E_LIMIT, "it has too many program headers");
}

/* Fields: p_type, p_flags, p_offset, p_vaddr, p_paddr, p_filesz, p_memsz, p_align. */
static bool parse_phdr(struct ptc_cur *c, uint32_t *ret_type, struct ptc_kcore_load *ret)
{
	return ptc_cur_le32(c, ret_type) && ptc_cur_skip(c, 4) && ptc_cur_le64(c, &ret->off) &&
	       ptc_cur_le64(c, &ret->addr) && ptc_cur_skip(c, 8) && ptc_cur_le64(c, &ret->len) &&
	       ptc_cur_skip(c, 16);
}

/* Returns true if neither the addresses nor the file offsets overflow. */
static bool is_sound(const struct ptc_kcore_load *l)
{
	uint64_t end;

	return l->len && !__builtin_add_overflow(l->addr, l->len - 1, &end) &&
	       !__builtin_add_overflow(l->off, l->len, &end) && end <= INT64_MAX;
}

int ptc_kcore_parse(struct ptc_cur head, struct ptc_kcore_load **ret, size_t *ret_n,
		    struct ptc_err *err)
{
	struct ptc_kcore_load *loads;
	size_t n = 0, i;
	struct head h = { .phnum = 0 };
	int rc = parse_ehdr(head, &h, err);

	if (rc)
		return rc;
	if (!ptc_cur_skip(&head, (size_t)h.phoff))
		return ptc_fail(err, PTC_E_FORMAT, "its program headers are cut");
	loads = calloc((size_t)h.phnum + 1, sizeof(*loads));
	if (!loads)
		return ptc_fail_mem(err);
	for (i = 0; i < h.phnum; i++) {
		uint32_t type = PT_NULL;

		if (!parse_phdr(&head, &type, &loads[n])) {
			free(loads);
			return ptc_fail(err, PTC_E_FORMAT, "its program headers are cut");
		}
		n += type == PT_LOAD && is_sound(&loads[n]);
	}
	*ret = loads;
	*ret_n = n;
	return 0;
}

static void put_phdr(struct ptc_buf *b, const struct ptc_kcore_load *l)
{
	ptc_buf_le32(b, PT_LOAD);
	ptc_buf_le32(b, PF_R | PF_W | PF_X);
	ptc_buf_le64(b, l->off);
	ptc_buf_le64(b, l->addr);
	ptc_buf_le64(b, 0);
	ptc_buf_le64(b, l->len);
	ptc_buf_le64(b, l->len);
	ptc_buf_le64(b, 4096);
}

void ptc_kcore_put(struct ptc_buf *b, const struct ptc_kcore_load *loads, size_t n)
{
	static const uint8_t ident[EI_NIDENT] = { ELFMAG0,    ELFMAG1,	   ELFMAG2,   ELFMAG3,
						  ELFCLASS64, ELFDATA2LSB, EV_CURRENT };
	size_t i;

	assert(!b->len && n <= PTC_KCORE_SEGS_MAX);
	ptc_buf_put(b, ident, sizeof(ident));
	ptc_buf_le16(b, ET_CORE);
	ptc_buf_le16(b, EM_X86_64);
	ptc_buf_le32(b, EV_CURRENT);
	ptc_buf_le64(b, 0);
	ptc_buf_le64(b, n ? PTC_KCORE_EHDR : 0);
	ptc_buf_le64(b, 0);
	ptc_buf_le32(b, 0);
	ptc_buf_le16(b, PTC_KCORE_EHDR);
	ptc_buf_le16(b, sizeof(Elf64_Phdr));
	ptc_buf_le16(b, (uint16_t)n);
	ptc_buf_zero(b, 6);
	for (i = 0; i < n; i++)
		put_phdr(b, &loads[i]);
	if (!ptc_buf_failed(b))
		ptc_buf_zero(b, PTC_KCORE_ROOM - b->len);
}
