/* SPDX-License-Identifier: MIT */
/* Description: every false claim of a ledger is found. */
#include <criterion/criterion.h>

#include "auxtrace/record/ledger.h"
#include "findings.h"

static struct ptc_ledger_ring account(void)
{
	return (struct ptc_ledger_ring){ .cpu = -1,
					 .tid = 7,
					 .data_made = 100,
					 .data_read = 100,
					 .data_stored = 100,
					 .aux_made = 61, /* before padding to 64 */
					 .aux_read = 61,
					 .aux_stored = 61 };
}

static void lost(struct pd *p, uint32_t type, uint64_t n)
{
	struct ptc_sb sb = { .type = type, .u.lost = { .id = PD_ID_DUMMY, .lost = n } };

	sb.id.id = PD_ID_DUMMY;
	sb.id.time = 20;
	pd_sb(p, &sb);
}

/* A sound file with a ledger, in which one thing is changed. */
#define LEDGER(name, want, ...)                                                                    \
	Test(verify, name)                                                                         \
	{                                                                                          \
		const struct ptc_ledger_event e = { PD_ID_PT, 10, 10, 0, 0 };                      \
		struct ptc_ledger_ring r = account();                                              \
		struct pd p;                                                                       \
                                                                                                   \
		vf_sound(&p);                                                                      \
		__VA_ARGS__;                                                                       \
		ptc_ledger_put_rings(&p.data, &r, 1);                                              \
		ptc_ledger_put_events(&p.data, &e, 1);                                             \
		vf_expect(&p, want);                                                               \
		pd_release(&p);                                                                    \
	}

LEDGER(a_ledger_that_is_right, "", r.idx = 0)
LEDGER(a_ledger_of_an_empty_ring, "ledger ", r.idx = 1)
LEDGER(more_trace_than_is_there, "ledger ledger ", r.aux_stored = 65)
LEDGER(more_trace_stored_than_read, "ledger ", r.aux_read = 60)
LEDGER(less_trace_than_is_there, "ledger ", r.aux_stored = 56)
LEDGER(more_trace_read_than_made, "ledger ", r.aux_made = 60)
LEDGER(more_overwritten_than_made, "ledger ", r.aux_overrun = 1)
LEDGER(a_head_that_nobody_knows, "", r.aux_made = 0)
LEDGER(more_records_stored_than_read, "ledger ", r.data_stored = 108)
LEDGER(more_records_read_than_made, "ledger ", r.data_made = 92)
LEDGER(a_loss_of_which_no_record_tells, "ledger ", r.lost_records = 3)
LEDGER(a_loss_of_which_a_record_tells, "", lost(&p, PERF_RECORD_LOST, 3), r.lost_records = 3)
LEDGER(a_loss_that_is_left_out, "ledger ", lost(&p, PERF_RECORD_LOST, 3))
LEDGER(samples_that_are_left_out, "ledger ", lost(&p, PERF_RECORD_LOST_SAMPLES, 3))
LEDGER(a_truncated_piece_of_which_no_record_tells, "ledger ", r.truncated = 1)
LEDGER(a_partial_piece_of_which_no_record_tells, "ledger ", r.partial = 1)
LEDGER(a_collision_of_which_no_record_tells, "ledger ", r.collisions = 1)
LEDGER(an_event_held_back_of_which_no_record_tells, "ledger ", r.throttled = 1)
/* The record that would report the loss was lost too. */
LEDGER(a_loss_behind_the_end, "", r.data_stored = 92, r.lost_records = 3)

LEDGER(trace_that_had_no_room, "", pd_aux(&p, 7, 0, 30, 64, 64, 0), r.aux_read = 125,
       r.aux_made = 125)
LEDGER(trace_that_should_be_there, "aux ", pd_aux(&p, 7, 0, 30, 64, 64, 0))

Test(verify, a_ledger_with_a_stranger)
{
	const struct ptc_ledger_event e = { 12345, 10, 10, 0, 0 };
	struct pd p;

	vf_sound(&p);
	ptc_ledger_put_events(&p.data, &e, 1);
	vf_expect(&p, "ledger ");
	pd_release(&p);
}
