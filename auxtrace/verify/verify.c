/* SPDX-License-Identifier: MIT */
#include "ptcap/verify.h"

#include "auxtrace/verify/verify_private.h"
#include "base/opts.h"

static int verify_records(struct ptc_verify *v, struct ptc_err *err)
{
	struct ptc_err damage;
	struct ptc_rec rec;
	uint64_t pos = 0;
	int rc;

	while ((rc = ptc_file_next(v->f, &pos, &rec, &damage)) > 0) {
		rc = ptc_verify_record(v, &rec, err);
		if (rc)
			return rc;
	}
	if (rc)
		ptc_verify_say_err(v, "record", &damage);
	return 0;
}

static int verify_file(struct ptc_verify *v, struct ptc_err *err)
{
	size_t i;
	int rc;

	for (i = 0; ptc_file_damage_at(v->f, i); i++)
		ptc_verify_say_err(v, "header", ptc_file_damage_at(v->f, i));
	rc = ptc_verify_layout(v, err);
	if (rc)
		return rc;
	ptc_verify_attrs(v);
	ptc_verify_features(v);
	rc = verify_records(v, err);
	if (rc)
		return rc;
	ptc_index_sort(&v->index);
	ptc_index_sort(&v->sampled);
	ptc_verify_ids(v);
	rc = ptc_verify_trace(v, err);
	if (!rc)
		rc = ptc_verify_order(v, err);
	if (rc)
		return rc;
	ptc_verify_times(v);
	ptc_verify_ledger(v);
	ptc_verify_compressed(v);
	return 0;
}

int ptc_verify(const struct ptc_file *f, ptc_finding_fn *say, void *arg,
	       struct ptc_verify_stats *ret, struct ptc_err *err)
{
	struct ptc_verify v = {
		.f = f,
		.say = say,
		.arg = arg,
		.index = PTC_INDEX_INIT,
		.sampled = PTC_INDEX_INIT,
		.join = PTC_AUX_JOIN_INIT,
		.again = PTC_BUF_INIT,
		.ids = PTC_BUF_INIT,
		.ledger = PTC_BUF_INIT,
	};
	const int rc = verify_file(&v, err);

	ptc_index_release(&v.index);
	ptc_index_release(&v.sampled);
	ptc_aux_join_release(&v.join);
	ptc_buf_release(&v.again);
	ptc_buf_release(&v.ids);
	ptc_buf_release(&v.ledger);
	if (!rc)
		ptc_opts_give(ret, &v.stats, sizeof(v.stats));
	return rc;
}
