/* SPDX-License-Identifier: MIT */
#include "cli/dump/dump_filter.h"

#include <string.h>
#include <strings.h>

#include "cli/common/cli.h"
#include "ptcap/sample.h"
#include "ptcap/userrec.h"

enum { TYPES = sizeof(((struct ptc_dump_filter *)0)->types) };

/* A type unknown to this build can be given as a number. */
static bool take_record(struct ptc_dump_filter *d, const char *word)
{
	uint64_t type;
	uint32_t i;

	for (i = 0; i < TYPES; i++)
		if (ptc_rec_name(i) && !strcasecmp(ptc_rec_name(i), word)) {
			d->types[i] = true;
			return true;
		}
	if (!strcasecmp(word, "unknown")) {
		for (i = 0; i < TYPES; i++)
			d->types[i] |= !ptc_rec_name(i);
		d->other_types = true;
		return true;
	}
	if (!ptc_parse_u64(word, &type) || type >= TYPES)
		return false;
	d->types[type] = true;
	return true;
}

bool ptc_dump_filter_type(struct ptc_dump_filter *d, const char *arg)
{
	char word[32];
	size_t n;

	d->by_type = true;
	for (;; arg += n + 1) {
		n = strcspn(arg, ",");
		if (n >= sizeof(word))
			return false;
		memcpy(word, arg, n);
		word[n] = '\0';
		if (!strcasecmp(word, "event"))
			d->events = true;
		else if (!strcasecmp(word, "feature"))
			d->features = true;
		else if (!take_record(d, word))
			return false;
		if (!arg[n])
			return true;
	}
}

/* Parse seconds with up to nine decimals, the format that dump prints. */
static bool parse_time(const char *s, size_t n, uint64_t *ret_ns)
{
	uint64_t ns = 0, unit = 1000000000;
	bool dot = false;
	size_t i;

	for (i = 0; i < n; i++) {
		if (s[i] == '.' && !dot && i) {
			dot = true;
			continue;
		}
		if (s[i] < '0' || s[i] > '9' || (dot && unit == 1) ||
		    __builtin_mul_overflow(ns, 10, &ns) ||
		    __builtin_add_overflow(ns, (uint64_t)(s[i] - '0'), &ns))
			return false;
		if (dot)
			unit /= 10;
	}
	return n && !__builtin_mul_overflow(ns, unit, ret_ns);
}

bool ptc_dump_filter_time(struct ptc_dump_filter *d, const char *arg)
{
	const char *comma = strchr(arg, ',');

	if (!comma)
		return false;
	d->by_time = true;
	d->from_ns = 0;
	d->to_ns = UINT64_MAX;
	return (comma == arg || parse_time(arg, (size_t)(comma - arg), &d->from_ns)) &&
	       (!comma[1] || parse_time(comma + 1, strlen(comma + 1), &d->to_ns)) &&
	       d->from_ns <= d->to_ns;
}

/* Returns the ids of a record. An AUXTRACE record has them in its fields. */
static struct ptc_sample_id id_of(const struct ptc_file *f, const struct ptc_rec *rec)
{
	struct ptc_sample_id id = { 0 };
	struct ptc_cur body = rec->body;
	const struct ptc_file_attr *a;
	struct ptc_user user;
	struct ptc_sample s;
	struct ptc_err ignored;

	if (rec->type == PERF_RECORD_SAMPLE) {
		a = ptc_file_sample_attr(f, rec);
		if (a && ptc_sample_parse_front(&body, a->attr.sample_type, &s))
			id = s.id;
	} else if (rec->type == PTC_REC_AUXTRACE) {
		if (ptc_user_parse(rec, &user, &ignored) > 0) {
			id.has = PERF_SAMPLE_TID | PERF_SAMPLE_CPU;
			id.tid = user.u.auxtrace.tid;
			id.cpu = (uint32_t)user.u.auxtrace.cpu;
		}
	} else {
		(void)ptc_sample_id_parse(&body, ptc_file_trailer_type(f, rec), &id);
	}
	return id;
}

bool ptc_dump_wants(const struct ptc_dump_filter *d, const struct ptc_file *f,
		    const struct ptc_rec *rec)
{
	struct ptc_sample_id id;

	if (d->by_type && !(rec->type < TYPES ? d->types[rec->type] : d->other_types))
		return false;
	if (!d->by_tid && !d->by_cpu && !d->by_time)
		return true;
	id = id_of(f, rec);
	return (!d->by_tid || ((id.has & PERF_SAMPLE_TID) && id.tid == (int64_t)d->tid)) &&
	       (!d->by_cpu || ((id.has & PERF_SAMPLE_CPU) && id.cpu == d->cpu)) &&
	       (!d->by_time || ((id.has & PERF_SAMPLE_TIME) && id.time >= d->from_ns &&
				(id.time < d->to_ns || d->to_ns == UINT64_MAX)));
}
