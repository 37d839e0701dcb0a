/* SPDX-License-Identifier: MIT */
/* Description: every false claim about the trace in snapshots and in samples is found. */
#include <criterion/criterion.h>

#include "auxtrace/record/auxtrace_info.h"
#include "auxtrace/record/sample.h"
#include "findings.h"

/*
 * Adds snapshots: AUXTRACE records from a ring of 256 bytes, and AUX records with the place where
 * the trace stopped.
 */
static void snapshots(struct pd *p)
{
	struct ptc_pt_info info = { .type = PTC_AUXTRACE_TYPE_INTEL_PT,
				    .pmu_type = PD_PMU_TYPE,
				    .time = vf_clock,
				    .cap_user_time_zero = true,
				    .snapshot_mode = true,
				    .filter = "" };

	pd_init_pt(p, &vf_clock);
	ptc_pt_info_put(&p->data, &info);
	pd_aux(p, 7, 0, 20, 61, 256, PERF_AUX_FLAG_OVERWRITE);
	vf_piece(p, 0, 64); /* 3 bytes are padding */
	pd_aux(p, 7, 0, 30, 9, 256, PERF_AUX_FLAG_OVERWRITE);
	vf_piece(p, 256 + 9 - 40, 40); /* the ring wrapped around */
}

#define SNAPSHOTS(name, want, ...)                                                                 \
	Test(verify, name)                                                                         \
	{                                                                                          \
		struct pd p;                                                                       \
                                                                                                   \
		snapshots(&p);                                                                     \
		__VA_ARGS__;                                                                       \
		vf_expect(&p, want);                                                               \
		pd_release(&p);                                                                    \
	}

SNAPSHOTS(snapshots_end_where_the_trace_stopped, "", (void)p)
SNAPSHOTS(a_snapshot_that_ends_elsewhere, "aux ", vf_piece(&p, 100, 8))
SNAPSHOTS(a_snapshot_that_ends_behind_its_padding, "aux ", vf_piece(&p, 53, 16))
SNAPSHOTS(a_snapshot_that_ends_in_front, "aux ", vf_piece(&p, 44, 16))
SNAPSHOTS(a_snapshot_that_is_larger_than_the_ring, "aux ", {
	static const uint8_t rounds[512];

	pd_auxtrace(&p, &(struct ptc_auxtrace){ .offset = 9, .tid = 7, .cpu = -1 }, rounds,
		    sizeof(rounds));
})
SNAPSHOTS(a_place_outside_the_ring, "aux ", pd_aux(&p, 7, 0, 40, 257, 256, PERF_AUX_FLAG_OVERWRITE))
SNAPSHOTS(a_ring_of_two_sizes, "aux ", pd_aux(&p, 7, 0, 40, 100, 512, PERF_AUX_FLAG_OVERWRITE))
SNAPSHOTS(a_snapshot_of_which_a_record_may_be_lost, "", {
	const struct ptc_sb lost = { .type = PERF_RECORD_LOST, .u.lost = { PD_ID_PT, 1 } };

	pd_sb(&p, &lost);
	vf_piece(&p, 100, 8);
})
SNAPSHOTS(a_ring_whose_end_is_where_it_stopped, "", {
	pd_aux(&p, 7, 0, 40, 256, 256, PERF_AUX_FLAG_OVERWRITE);
	vf_piece(&p, 512 - 64, 64);
})

/* Adds a SAMPLE of thread 7 with @len bytes of trace; its event asked for 24. */
static void sample(struct pd *p, size_t len)
{
	struct ptc_sample s = { .id = { .id = PD_ID_PT, .tid = 7, .pid = 7, .time = 20 } };
	const uint64_t has = p->attrs[0].attr.sample_type;

	s.id.has = has;
	s.aux = ptc_cur_init(vf_trace, len);
	ptc_sample_put(&p->data, PERF_RECORD_MISC_USER, &s, &p->attrs[0].attr);
}

static void sampled(struct pd *p)
{
	size_t i;

	pd_init_pt(p, &vf_clock);
	for (i = 0; i < 2; i++) {
		p->attrs[i].attr.sample_type |= PERF_SAMPLE_AUX;
		p->attrs[i].attr.aux_sample_size = 23;
	}
}

#define SAMPLED(name, want, ...)                                                                   \
	Test(verify, name)                                                                         \
	{                                                                                          \
		struct pd p;                                                                       \
                                                                                                   \
		sampled(&p);                                                                       \
		__VA_ARGS__;                                                                       \
		vf_expect(&p, want);                                                               \
		pd_release(&p);                                                                    \
	}

SAMPLED(trace_in_samples, "", sample(&p, 24); sample(&p, 8); sample(&p, 0))
SAMPLED(more_trace_than_the_event_asks_for, "aux ", sample(&p, 32))
SAMPLED(trace_of_an_odd_size, "trailing aux ", sample(&p, 24); p.data.bytes[p.data.len - 32] = 23)
SAMPLED(samples_and_pieces_of_one_queue, "aux ", {
	const struct ptc_auxtrace a = { .idx = 0, .tid = 7, .cpu = -1 };

	sample(&p, 8); /* on CPU 0, like its trace */
	pd_auxtrace(&p, &a, vf_trace, 8);
})
SAMPLED(a_sample_in_front_of_the_info, "info ", ptc_buf_reset(&p.data); sample(&p, 8))
SAMPLED(a_sample_of_no_queue, "aux ", {
	p.attrs[0].attr.sample_type = p.attrs[1].attr.sample_type =
		PERF_SAMPLE_TIME | PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_AUX;
	sample(&p, 8);
})
