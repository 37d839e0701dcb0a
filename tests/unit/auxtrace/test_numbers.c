/* SPDX-License-Identifier: MIT */
/*
 * Description: recordings of each form with one number changed, of any size and at any offset. The
 * file is read, sorted, indexed and verified, or refused. No access is out of bounds.
 */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "auxtrace/feature/feature.h"
#include "auxtrace/record/userrec.h"
#include "lib_numbers.h"
#include "lib_packed.h"
#include "lib_walk.h"
#include "ptcap/verify.h"

static void count(void *arg, const struct ptc_finding *finding)
{
	*(uint64_t *)arg += finding->msg[0] != 0;
}

static void try_file(const void *ctx, const uint8_t *bytes, size_t len)
{
	struct ptc_index ix = PTC_INDEX_INIT;
	struct ptc_verify_stats st = PTC_VERIFY_STATS_INIT;
	struct ptc_err err, why;
	struct ptc_file *f;
	uint64_t n = 0;

	(void)ctx;
	(void)wk_file(bytes, len);
	if (ptc_file_open_damaged_bytes(bytes, len, "test", &f, &err))
		return;
	if (!ptc_verify(f, count, &n, &st, &err))
		cr_assert_eq(n, st.findings);
	(void)ptc_index_open(&ix, f, &why, &err);
	ptc_index_release(&ix);
	ptc_file_free(f);
}

/*
 * Adds two AUXTRACE records of one queue, their AUX records, an index, ids, and one record of each
 * marker type.
 */
static void build(struct pd *p, uint32_t pack)
{
	static const struct ptc_time_conv tc = { 31, 715827883, 5000 };
	static const struct ptc_id_index_entry id = {
		.id = PD_ID_PT, .idx = 0, .cpu = -1, .tid = 7
	};
	struct ptc_auxtrace aux = { .idx = 0, .tid = 7, .cpu = -1 };
	struct ptc_auxtrace_entry entries[2];
	struct ptc_user u = { .type = PTC_REC_ID_INDEX };
	struct ptc_buf b = PTC_BUF_INIT;
	uint64_t data_off;
	uint8_t *bytes;
	size_t len;
	int i;

	pd_init_pt(p, &tc);
	bytes = pd_finish(p, &len);
	data_off = ptc_le64(bytes + 40);
	free(bytes);
	ptc_id_index_put_entry(&b, &id);
	u.u.id_index.entries = ptc_cur_init(b.bytes, b.len);
	ptc_user_put(&p->data, &u);
	ptc_buf_reset(&b);
	pd_comm(p, 7, 10, "x", true);
	pd_aux(p, 7, 0, 20, 0, 8, 0);
	pd_aux(p, 7, 0, 30, 8, 8, PERF_AUX_FLAG_TRUNCATED);
	if (pack)
		pk_pack(p, pack, 100);
	for (i = 0; i < 2; i++) {
		entries[i] =
			(struct ptc_auxtrace_entry){ data_off + p->data.len, PTC_AUXTRACE_SIZE };
		pd_auxtrace(p, &aux, "\2\202\2\202\2\202\2\202", 8);
		aux.offset += 8;
	}
	pd_raw(p, PTC_REC_FINISHED_ROUND, 0, NULL, 0);
	ptc_feature_put_auxtrace(&b, entries, 2);
	pd_feature(p, PTC_FEAT_AUXTRACE, b.bytes, b.len);
	ptc_buf_release(&b);
}

static void try_all(uint32_t pack, bool pipe)
{
	struct pd p;
	uint8_t *bytes;
	size_t len;

	build(&p, pack);
	bytes = pipe ? pd_finish_pipe(&p, &len) : pd_finish(&p, &len);
	nb_each(bytes, len, try_file, NULL);
	free(bytes);
	pd_release(&p);
}

Test(numbers, of_a_file)
{
	try_all(0, false);
}

Test(numbers, of_a_pipe)
{
	try_all(0, true);
}

Test(numbers, of_a_compressed_file)
{
	try_all(PTC_REC_COMPRESSED, false);
}

Test(numbers, of_a_compressed_pipe)
{
	try_all(PTC_REC_COMPRESSED2, true);
}
