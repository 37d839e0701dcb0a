/* SPDX-License-Identifier: MIT */
#include "auxtrace/record/schedstat.h"

enum { CPU_WORDS = 6 }; /* the first counters of a CPU are u32, the rest are u64 */

/* Equal in versions 15 to 17. */
static const char *const cpu_names[] = {
	"yld_count",  "array_exp",   "sched_count", "sched_goidle", "ttwu_count",
	"ttwu_local", "rq_cpu_time", "run_delay",   "pcount",
};

#define BALANCE(when, imbalance)                                                                   \
	when "_lb_count", when "_lb_balanced", when "_lb_failed",                                  \
		imbalance(when) when "_lb_gained", when "_lb_hot_gained", when "_lb_nobusyq",      \
		when "_lb_nobusyg"
#define ONE_IMBALANCE(when) when "_lb_imbalance",
#define FOUR_IMBALANCES(when)                                                                      \
	when "_lb_imbalance_load", when "_lb_imbalance_util", when "_lb_imbalance_task",           \
		when "_lb_imbalance_misfit",
#define TAIL                                                                                       \
	"alb_count", "alb_failed", "alb_pushed", "sbe_count", "sbe_balanced", "sbe_pushed",        \
		"sbf_count", "sbf_balanced", "sbf_pushed", "ttwu_wake_remote", "ttwu_move_affine", \
		"ttwu_move_balance", NULL

/* All counters of a domain are u32. */
static const char *const domain_v15[] = { BALANCE("idle", ONE_IMBALANCE),
					  BALANCE("busy", ONE_IMBALANCE),
					  BALANCE("newidle", ONE_IMBALANCE), TAIL };
static const char *const domain_v16[] = { BALANCE("busy", ONE_IMBALANCE),
					  BALANCE("idle", ONE_IMBALANCE),
					  BALANCE("newidle", ONE_IMBALANCE), TAIL };
static const char *const domain_v17[] = { BALANCE("busy", FOUR_IMBALANCES),
					  BALANCE("idle", FOUR_IMBALANCES),
					  BALANCE("newidle", FOUR_IMBALANCES), TAIL };

/* Returns NULL at the end, and for an unknown version. */
static const char *name_at(const struct ptc_schedstat *s, unsigned int i)
{
	if (s->version < 15 || s->version > 17)
		return NULL;
	if (!s->of_domain)
		return i < sizeof(cpu_names) / sizeof(cpu_names[0]) ? cpu_names[i] : NULL;
	if (s->version == 15)
		return domain_v15[i];
	return s->version == 16 ? domain_v16[i] : domain_v17[i];
}

static size_t size_at(const struct ptc_schedstat *s, unsigned int i)
{
	return s->of_domain || i < CPU_WORDS ? 4 : 8;
}

bool ptc_schedstat_parse(struct ptc_cur body, bool of_domain, struct ptc_schedstat *ret)
{
	struct ptc_schedstat s = { .of_domain = of_domain };
	size_t need = 0;
	unsigned int i;

	/* The domain number is padding in SCHEDSTAT_CPU. */
	if (!ptc_cur_le64(&body, &s.time) || !ptc_cur_le32(&body, &s.cpu) ||
	    !ptc_cur_le16(&body, &s.version) || !ptc_cur_le16(&body, &s.domain))
		return false;
	if (!of_domain)
		s.domain = 0;
	for (i = 0; name_at(&s, i); i++)
		need += size_at(&s, i);
	if (!ptc_cur_sub(&body, i ? need : ptc_cur_left(&body), &s.counters))
		return false;
	*ret = s;
	return true;
}

const char *ptc_schedstat_next(struct ptc_schedstat *s, uint64_t *ret)
{
	const char *name = name_at(s, s->at);
	uint32_t v;

	if (!name)
		return NULL;
	if (size_at(s, s->at) == 8) {
		if (!ptc_cur_le64(&s->counters, ret))
			return NULL;
	} else {
		if (!ptc_cur_le32(&s->counters, &v))
			return NULL;
		*ret = v;
	}
	s->at++;
	return name;
}

void ptc_schedstat_put(struct ptc_buf *b, const struct ptc_schedstat *s)
{
	ptc_buf_le64(b, s->time);
	ptc_buf_le32(b, s->cpu);
	ptc_buf_le16(b, s->version);
	ptc_buf_le16(b, s->of_domain ? s->domain : 0);
	ptc_buf_put(b, s->counters.pos, ptc_cur_left(&s->counters));
}
