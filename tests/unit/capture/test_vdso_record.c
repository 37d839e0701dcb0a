/* SPDX-License-Identifier: MIT */
/* Description: a mapping of the vdso is followed by a record with the bytes of our own vdso. */
#include <criterion/criterion.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <unistd.h>

#include "capture/host/maps.h"
#include "capture/host/vdso_record.h"

#define TYPE (PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_IDENTIFIER)

enum { SIZE_MAX_VDSO = 1 << 16 };

static uint64_t own_size(void)
{
	struct ptc_maps maps = PTC_MAPS_INIT;
	const struct ptc_map *m;
	struct ptc_err err;
	uint64_t len;

	cr_assert_eq(ptc_maps_read(&maps, "/proc", getpid(), &err), 0);
	m = ptc_maps_find(&maps, getauxval(AT_SYSINFO_EHDR));
	cr_assert_not_null(m);
	len = m->end - m->start;
	ptc_maps_release(&maps);
	return len;
}

static struct ptc_sb vdso_at(uint64_t addr, uint64_t len)
{
	struct ptc_sb sb = { .type = PERF_RECORD_MMAP2 };

	sb.u.mmap.addr = addr;
	sb.u.mmap.len = len;
	sb.u.mmap.filename = "[vdso]";
	sb.id.pid = 5;
	sb.id.time = 1234;
	sb.id.id = 77;
	return sb;
}

Test(vdso_record, its_bytes_follow_at_its_address)
{
	static uint8_t got[SIZE_MAX_VDSO];
	const uint64_t len = own_size(), base = 0x7fff00000000;
	struct ptc_sb mmap2 = vdso_at(base, len);
	struct ptc_buf b = PTC_BUF_INIT;
	uint64_t at = base;
	struct ptc_rec rec;
	struct ptc_err err;
	struct ptc_cur c;
	struct ptc_sb sb;

	cr_assert_leq(len, sizeof(got));
	ptc_ownvdso_put(&b, &mmap2, TYPE);
	c = ptc_cur_init(b.bytes, b.len);
	while (ptc_rec_next(&c, 0, &rec, &err) == 1) {
		size_t n;

		cr_assert_eq(ptc_sb_parse(&rec, TYPE, &sb, &err), 1);
		cr_assert_eq(sb.type, PERF_RECORD_TEXT_POKE);
		cr_assert_eq(sb.misc, PERF_RECORD_MISC_USER);
		cr_assert_eq(sb.u.poke.addr, at);
		cr_assert_eq(sb.id.time, 1234);
		cr_assert_eq(sb.id.pid, 5);
		n = ptc_cur_left(&sb.u.poke.new_bytes);
		memcpy(got + (at - base), sb.u.poke.new_bytes.pos, n);
		at += n;
	}
	cr_assert_eq(at, base + len);
	cr_assert_eq(memcmp(got, (const void *)getauxval(AT_SYSINFO_EHDR), len), 0);
	ptc_buf_release(&b);
}

Test(vdso_record, it_is_looked_for_once)
{
	struct rlimit none, before;
	struct ptc_sb mmap2 = vdso_at(0x7fff00000000, own_size());
	struct ptc_buf b = PTC_BUF_INIT;
	size_t first;

	ptc_ownvdso_put(&b, &mmap2, TYPE);
	first = b.len;
	cr_assert_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = (struct rlimit){ 0, before.rlim_max };
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &none), 0); /* no file can be opened */
	ptc_ownvdso_put(&b, &mmap2, TYPE);
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
	cr_assert_eq(b.len, 2 * first);
	ptc_buf_release(&b);
}

Test(vdso_record, nothing_follows_what_is_not_ours)
{
	const uint64_t len = own_size();
	struct ptc_sb narrow = vdso_at(0xf7fc0000, len),
		      other = vdso_at(0x7fff00000000, len + 4096),
		      file = vdso_at(0x7fff00000000, len), comm = { .type = PERF_RECORD_COMM };
	struct ptc_buf b = PTC_BUF_INIT;

	file.u.mmap.filename = "/bin/x";
	ptc_ownvdso_put(&b, &narrow, TYPE); /* in a 32-bit process */
	ptc_ownvdso_put(&b, &other, TYPE);
	ptc_ownvdso_put(&b, &file, TYPE);
	ptc_ownvdso_put(&b, &comm, TYPE);
	cr_assert_eq(b.len, 0);
	ptc_buf_release(&b);
}
