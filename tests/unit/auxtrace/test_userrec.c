/* SPDX-License-Identifier: MIT */
/*
 * Description: perf's user-space records: laid out by hand, parsed, written again, cut, and with
 * false claims.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "lib_numbers.h"
#include "lib_perfdata.h"
#include "lib_walk.h"
#include "userrec_layout.h"

static struct ptc_rec record(const struct ul_record *r, const uint8_t *body, size_t len)
{
	return (struct ptc_rec){
		.off = 96, .type = r->type, .misc = r->misc, .body = ptc_cur_init(body, len)
	};
}

Test(userrec, every_record_is_read_and_put_again_byte_for_byte)
{
	size_t i;

	for (i = 0; i < UL_N; i++) {
		struct ptc_buf b = PTC_BUF_INIT, again = PTC_BUF_INIT;
		struct ptc_user u;
		struct ptc_rec rec;
		struct ptc_err err;

		(void)ul_all[i].lay_out(&b);
		rec = record(&ul_all[i], b.bytes, b.len);
		cr_assert_eq(ptc_user_parse(&rec, &u, &err), 1, "%s: %s", ul_all[i].what, err.msg);
		cr_assert(u.off == 96 && u.type == ul_all[i].type && u.misc == ul_all[i].misc);
		ul_all[i].check(&u);
		ptc_user_put(&again, &u);
		cr_assert(!ptc_buf_failed(&again), "%s", ul_all[i].what);
		cr_assert_geq(again.len, 8 + b.len, "%s", ul_all[i].what);
		cr_assert_eq(ptc_le32(again.bytes), ul_all[i].type);
		cr_assert_eq(ptc_le16(again.bytes + 4), ul_all[i].misc);
		cr_assert_eq(ptc_le16(again.bytes + 6), again.len);
		if (b.len)
			cr_assert_eq(memcmp(again.bytes + 8, b.bytes, b.len), 0, "%s",
				     ul_all[i].what);
		rec = record(&ul_all[i], again.bytes + 8, again.len - 8);
		cr_assert_eq(ptc_user_parse(&rec, &u, &err), 1, "%s: %s", ul_all[i].what, err.msg);
		if (ul_all[i].lay_out != ul_lay_sched_new) /* its padding reads as counters */
			ul_all[i].check(&u);
		ptc_buf_release(&b);
		ptc_buf_release(&again);
	}
}

Test(userrec, cut_at_every_length_a_record_is_refused)
{
	size_t i, len, optional;

	for (i = 0; i < UL_N; i++) {
		struct ptc_buf b = PTC_BUF_INIT;

		optional = ul_all[i].lay_out(&b);
		for (len = 0; len <= b.len; len++) {
			uint8_t *bytes = pd_exact(b.bytes, len);
			const struct ptc_rec rec = record(&ul_all[i], bytes, len);
			struct ptc_user u;
			struct ptc_err err;
			int rc = ptc_user_parse(&rec, &u, &err);
			int want = len + optional >= b.len ? 1 : PTC_E_FORMAT;

			if (ul_all[i].lay_out == ul_lay_conv && len == 24)
				want = 1; /* the short form */
			if (ul_all[i].lay_out == ul_lay_event_type && len > 8 && len % 8 == 0)
				want = 1; /* perf's, up to 3.10 */
			cr_assert_eq(rc, want, "%s, length %zu of %zu", ul_all[i].what, len, b.len);
			if (rc < 0)
				cr_assert(err.off == 96 && strstr(err.msg, ptc_rec_name(rec.type)));
			free(bytes);
		}
		ptc_buf_release(&b);
	}
}

Test(userrec, counts_are_held_against_the_bytes_that_are_there)
{
	static const struct {
		uint32_t type;
		size_t off; /* offset of the count (u64) */
		uint64_t exact;
	} counts[] = {
		{ PTC_REC_ID_INDEX, 0, 2 },	  { PTC_REC_THREAD_MAP, 0, 2 },
		{ PTC_REC_STAT_CONFIG, 0, 2 },	  { PTC_REC_COMPRESSED2, 0, 8 },
		{ PTC_REC_BPF_METADATA, 512, 2 },
	};
	size_t i, j;
	unsigned int bit;

	for (i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		const struct ul_record *r = ul_all;
		struct ptc_buf b = PTC_BUF_INIT;
		struct ptc_user u;
		struct ptc_err err;
		struct ptc_rec rec;

		while (r->type != counts[i].type)
			r++;
		(void)r->lay_out(&b);
		rec = record(r, b.bytes, b.len);
		for (j = 0; j <= counts[i].exact; j++) {
			ptc_buf_set_le64(&b, counts[i].off, j);
			cr_assert_eq(ptc_user_parse(&rec, &u, &err), 1, "%s %zu", r->what, j);
		}
		ptc_buf_set_le64(&b, counts[i].off, counts[i].exact + 1);
		cr_assert_eq(ptc_user_parse(&rec, &u, &err), PTC_E_FORMAT, "%s", r->what);
		for (bit = 5; bit < 64; bit++) { /* the product wraps around */
			ptc_buf_set_le64(&b, counts[i].off, counts[i].exact + (UINT64_C(1) << bit));
			cr_assert_eq(ptc_user_parse(&rec, &u, &err), PTC_E_FORMAT, "%s bit %u",
				     r->what, bit);
		}
		ptc_buf_set_le64(&b, counts[i].off, UINT64_MAX);
		cr_assert_eq(ptc_user_parse(&rec, &u, &err), PTC_E_FORMAT);
		ptc_buf_release(&b);
	}
}

Test(userrec, an_attr_whose_size_is_not_its_own_is_refused)
{
	const uint32_t sizes[] = { 1, 63, 153, 1000, UINT32_MAX };
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_user u;
	struct ptc_err err;
	struct ptc_rec rec;
	size_t i;

	(void)ul_lay_attr(&b); /* 128 + 24 bytes */
	rec = record(&ul_all[0], b.bytes, b.len);
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		memcpy(b.bytes + 4, &sizes[i], 4);
		cr_assert_eq(ptc_user_parse(&rec, &u, &err), PTC_E_FORMAT, "%u", sizes[i]);
	}
	memcpy(b.bytes + 4, &(uint32_t){ 0 }, 4); /* no size field yet: 64 bytes */
	cr_assert_eq(ptc_user_parse(&rec, &u, &err), 1);
	cr_assert_eq(ptc_cur_left(&u.u.attr.ids), 64 + 24);
	memcpy(b.bytes + 4, &(uint32_t){ 152 }, 4); /* larger than ours: unknown bytes */
	cr_assert_eq(ptc_user_parse(&rec, &u, &err), 1);
	cr_assert(u.u.attr.unknown_bytes && !ptc_cur_left(&u.u.attr.ids));
	ptc_buf_release(&b);
}

Test(userrec, a_build_id_without_its_size_has_twenty_bytes)
{
	const struct ul_record old = { .type = PTC_REC_HEADER_BUILD_ID };
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_user u;
	struct ptc_err err;
	struct ptc_rec rec;

	(void)ul_lay_build_id(&b);
	b.bytes[24] = 21;
	rec = record(&old, b.bytes, b.len);
	cr_assert_eq(ptc_user_parse(&rec, &u, &err), 1);
	cr_assert_eq(u.u.build_id.id.len, 20);
	rec.misc = 1 << 15;
	cr_assert_eq(ptc_user_parse(&rec, &u, &err), PTC_E_FORMAT);
	ptc_buf_release(&b);
}

/* perf up to 3.10 ended the record with the name, padded to 8 bytes. */
Test(userrec, the_name_of_an_event_type_may_be_short_and_have_no_end)
{
	static const char *const names[] = { "cycles", "branches", "cache-references" };
	const struct ul_record r = { .type = PTC_REC_HEADER_EVENT_TYPE };
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct ptc_buf b = PTC_BUF_INIT;
		struct ptc_user u;
		struct ptc_err err;
		struct ptc_rec rec;

		ptc_buf_le64(&b, 3);
		ul_text(&b, names[i], (strlen(names[i]) + 7) / 8 * 8);
		rec = record(&r, b.bytes, b.len);
		cr_assert_eq(ptc_user_parse(&rec, &u, &err), 1, "%s", err.msg);
		cr_assert_eq(u.u.event_type.event_id, 3);
		cr_assert_str_eq(u.u.event_type.name, names[i]);
		ptc_buf_release(&b);
	}
}

Test(userrec, texts_that_do_not_end_in_their_field_are_refused)
{
	static const struct {
		size_t (*lay_out)(struct ptc_buf *b);
		uint32_t type;
		size_t off, len; /* of the field */
	} fields[] = {
		{ ul_lay_event_type, PTC_REC_HEADER_EVENT_TYPE, 8, 64 },
		{ ul_lay_error2, PTC_REC_AUXTRACE_ERROR, 40, 64 },
		{ ul_lay_unit, PTC_REC_EVENT_UPDATE, 16, 8 },
		{ ul_lay_bpf, PTC_REC_BPF_METADATA, 0, 512 },
		{ ul_lay_bpf, PTC_REC_BPF_METADATA, 520, 64 },
		{ ul_lay_bpf, PTC_REC_BPF_METADATA, 520 + 320 + 64, 256 },
	};
	size_t i;

	for (i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		const struct ul_record r = { .type = fields[i].type };
		struct ptc_buf b = PTC_BUF_INIT;
		struct ptc_user u;
		struct ptc_err err;
		struct ptc_rec rec;

		(void)fields[i].lay_out(&b);
		memset(b.bytes + fields[i].off, 'x', fields[i].len - 1);
		rec = record(&r, b.bytes, b.len);
		cr_assert_eq(ptc_user_parse(&rec, &u, &err), 1, "field %zu", i);
		b.bytes[fields[i].off + fields[i].len - 1] = 'x';
		cr_assert_eq(ptc_user_parse(&rec, &u, &err), PTC_E_FORMAT, "field %zu", i);
		ptc_buf_release(&b);
	}
}

Test(userrec, what_does_not_fit_its_field_is_not_built)
{
	static const uint8_t bytes[64];
	char long_text[600];
	struct ptc_user u[] = {
		{ .type = PTC_REC_HEADER_EVENT_TYPE,
		  .u.event_type = { .event_id = 1, .name = long_text } },
		{ .type = PTC_REC_AUXTRACE_ERROR, .u.auxtrace_error = { .msg = long_text } },
		{ .type = PTC_REC_BPF_METADATA, .u.bpf_metadata = { .prog_name = long_text } },
		{ .type = PTC_REC_THREAD_MAP, .u.thread_map.entries = { bytes, bytes + 23 } },
		{ .type = PTC_REC_STAT_CONFIG, .u.stat_config.entries = { bytes, bytes + 17 } },
		{ .type = PTC_REC_ID_INDEX,
		  .u.id_index = { 1, { bytes, bytes + 32 }, { bytes, bytes + 32 } } },
		{ .type = PTC_REC_HEADER_ATTR }, /* size 0 */
		{ .type = PTC_REC_CPU_MAP,
		  .u.cpu_map = { .type = PTC_CPU_MAP_MASK, .word_size = 3 } },
	};
	size_t i;

	memset(long_text, 'x', sizeof(long_text));
	long_text[sizeof(long_text) - 1] = 0;
	for (i = 0; i < sizeof(u) / sizeof(u[0]); i++) {
		struct ptc_buf b = PTC_BUF_INIT;

		ptc_user_put(&b, &u[i]);
		cr_assert(ptc_buf_failed(&b), "case %zu", i);
		ptc_buf_release(&b);
	}
}

Test(userrec, an_id_index_is_built_entry_by_entry)
{
	const struct ptc_id_index_entry e[] = {
		{ .id = 1, .idx = 2, .cpu = 3, .tid = 4, .machine_pid = 30, .vcpu = 31 },
		{ .id = 5, .idx = 6, .cpu = -1, .tid = -1, .machine_pid = 32, .vcpu = 33 },
	};
	struct ptc_buf entries = PTC_BUF_INIT, guests = PTC_BUF_INIT, b = PTC_BUF_INIT;
	struct ptc_buf want = PTC_BUF_INIT;
	struct ptc_user u = { .type = PTC_REC_ID_INDEX };
	size_t i;

	for (i = 0; i < 2; i++) {
		ptc_id_index_put_entry(&entries, &e[i]);
		ptc_id_index_put_guest(&guests, &e[i]);
	}
	u.u.id_index.entries = ptc_cur_init(entries.bytes, entries.len);
	u.u.id_index.guests = ptc_cur_init(guests.bytes, guests.len);
	ptc_user_put(&b, &u);
	(void)ul_lay_id_index_guests(&want);
	cr_assert_eq(b.len, 8 + want.len);
	cr_assert_eq(memcmp(b.bytes + 8, want.bytes, want.len), 0);
	ptc_buf_release(&entries);
	ptc_buf_release(&guests);
	ptc_buf_release(&b);
	ptc_buf_release(&want);
}

Test(userrec, other_types_are_left_alone_and_every_name_has_a_type)
{
	struct ptc_err err;
	struct ptc_user u;
	uint32_t type;

	for (type = 0; type < 200; type++) {
		const struct ptc_rec rec = { .off = 5, .type = type };
		const bool ours = type >= PTC_REC_USER_START && ptc_rec_name(type);

		cr_assert_eq(ptc_user_parse(&rec, &u, &err) != 0, ours, "type %u", type);
	}
}

static void try_record(const void *ctx, const uint8_t *bytes, size_t len)
{
	const struct ptc_rec rec = record(ctx, bytes, len);

	(void)wk_record(&rec, 0, NULL);
}

Test(userrec, no_number_at_any_place_leads_outside)
{
	size_t i;

	for (i = 0; i < UL_N; i++) {
		struct ptc_buf b = PTC_BUF_INIT;

		(void)ul_all[i].lay_out(&b);
		nb_each(b.bytes, b.len, try_record, &ul_all[i]);
		ptc_buf_release(&b);
	}
}
