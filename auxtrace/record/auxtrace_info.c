/* SPDX-License-Identifier: MIT */
#include "auxtrace/record/auxtrace_info.h"

#include <inttypes.h>
#include <string.h>

#include "auxtrace/record/layout.h"
#include "base/err.h"

/* The private words of AUXTRACE_INFO. Versions of perf write 10 to 16 of these words, or more. */
enum word {
	W_PMU_TYPE,
	W_TIME_SHIFT,
	W_TIME_MULT,
	W_TIME_ZERO,
	W_CAP_USER_TIME_ZERO,
	W_TSC_BIT,
	W_NORETCOMP_BIT,
	W_HAVE_SCHED_SWITCH,
	W_SNAPSHOT_MODE,
	W_PER_CPU_MMAPS,
	W_MIN,
	W_MTC_BIT = W_MIN,
	W_MTC_FREQ_BITS,
	W_TSC_CTC_N,
	W_TSC_CTC_D,
	W_CYC_BIT,
	W_MAX_NONTURBO_RATIO,
	W_FILTER_LEN,
	W_COUNT
};

__extension__ typedef unsigned __int128 wide;

uint64_t ptc_tsc_to_ns(const struct ptc_time_conv *tc, uint64_t tsc)
{
	return tc->zero + (uint64_t)((wide)tsc * tc->mult >> (tc->shift & 63));
}

uint64_t ptc_ns_to_tsc(const struct ptc_time_conv *tc, uint64_t ns)
{
	if (!tc->mult)
		return 0;
	return (uint64_t)(((wide)(ns - tc->zero) << (tc->shift & 63)) / tc->mult);
}

uint64_t ptc_config_field(uint64_t config, uint64_t mask)
{
	return mask ? (config & mask) >> __builtin_ctzll(mask) : 0;
}

/*
 * Returns false for a shift above 63 or a multiplier above 32 bits, which the kernel's page cannot
 * contain.
 */
static bool set_time(struct ptc_time_conv *tc, uint64_t shift, uint64_t mult, uint64_t zero)
{
	if (shift > 63 || mult > UINT32_MAX)
		return false;
	tc->shift = (uint16_t)shift;
	tc->mult = (uint32_t)mult;
	tc->zero = zero;
	return true;
}

static bool get_filter(struct ptc_cur *c, uint64_t len, const char **ret)
{
	struct ptc_cur text;

	*ret = "";
	if (!len)
		return true;
	/* The word is the length without the NUL. The text is padded to a multiple of 8. */
	if (len >= ptc_cur_left(c) || !ptc_cur_sub(c, (size_t)len + 1, &text))
		return false;
	(void)ptc_cur_skip(c, -(size_t)(len + 1) & 7);
	return text.pos[len] == 0 && ptc_cur_str(&text, ret);
}

/* Widths in bits: IA32_RTIT_CTL.MTCFreq has four, the ratio of MSR_PLATFORM_INFO eight. */
enum { MTC_FREQ_WIDTH = 4, RATIO_MAX = 255 };

static bool is_bit(uint64_t mask)
{
	return !(mask & (mask - 1)); /* also true for 0 */
}

static bool is_field(uint64_t mask, int width)
{
	const uint64_t bits = mask ? mask >> __builtin_ctzll(mask) : 0;

	return is_bit(bits + 1) && bits < UINT64_C(1) << width;
}

/* Check the numbers once, because the decoder shifts and multiplies with them. */
static bool check_words(const uint64_t *w, const char **ret_what, uint64_t *ret_value)
{
	const struct {
		const char *what;
		enum word word;
		bool good;
	} checks[] = {
		{ "PMU type", W_PMU_TYPE, w[W_PMU_TYPE] <= UINT32_MAX },
		{ "TSC bit", W_TSC_BIT, is_bit(w[W_TSC_BIT]) },
		{ "noretcomp bit", W_NORETCOMP_BIT, is_bit(w[W_NORETCOMP_BIT]) },
		{ "MTC bit", W_MTC_BIT, is_bit(w[W_MTC_BIT]) },
		{ "mask of MTC frequencies", W_MTC_FREQ_BITS,
		  is_field(w[W_MTC_FREQ_BITS], MTC_FREQ_WIDTH) },
		{ "numerator of the CTC's ratio", W_TSC_CTC_N, w[W_TSC_CTC_N] <= UINT32_MAX },
		{ "denominator of the CTC's ratio", W_TSC_CTC_D, w[W_TSC_CTC_D] <= UINT32_MAX },
		{ "CYC bit", W_CYC_BIT, is_bit(w[W_CYC_BIT]) },
		{ "ratio without turbo", W_MAX_NONTURBO_RATIO,
		  w[W_MAX_NONTURBO_RATIO] <= RATIO_MAX },
	};
	size_t i;

	for (i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
		*ret_what = checks[i].what;
		*ret_value = w[checks[i].word];
		if (!checks[i].good)
			return false;
	}
	return true;
}

int ptc_pt_info_parse(const struct ptc_rec *rec, struct ptc_pt_info *ret, struct ptc_err *err)
{
	struct ptc_pt_info info = { .filter = "" };
	struct ptc_cur c = rec->body;
	uint64_t w[W_COUNT] = { 0 }, event_trace = 0, value;
	const char *what;
	size_t n = 0;

	if (!ptc_cur_le32(&c, &info.type) || !ptc_cur_skip(&c, 4))
		return ptc_fail_at(err, PTC_E_FORMAT, rec->off,
				   "AUXTRACE_INFO record is too short");
	if (info.type != PTC_AUXTRACE_TYPE_INTEL_PT) {
		*ret = info;
		return 0;
	}
	while (n < W_COUNT && ptc_cur_le64(&c, &w[n]))
		n++;
	if (n < W_MIN)
		return ptc_fail_at(err, PTC_E_FORMAT, rec->off,
				   "AUXTRACE_INFO of Intel PT has %zu words, %d are needed", n,
				   W_MIN);
	if (!check_words(w, &what, &value))
		return ptc_fail_at(err, PTC_E_FORMAT, rec->off,
				   "AUXTRACE_INFO has an impossible %s: 0x%" PRIx64, what, value);
	info.pmu_type = (uint32_t)w[W_PMU_TYPE];
	info.cap_user_time_zero = w[W_CAP_USER_TIME_ZERO] != 0;
	if (!set_time(&info.time, w[W_TIME_SHIFT], w[W_TIME_MULT], w[W_TIME_ZERO]) &&
	    info.cap_user_time_zero)
		return ptc_fail_at(err, PTC_E_FORMAT, rec->off,
				   "AUXTRACE_INFO has an impossible clock: shift %" PRIu64
				   ", mult %" PRIu64,
				   w[W_TIME_SHIFT], w[W_TIME_MULT]);
	info.tsc_bit = w[W_TSC_BIT];
	info.noretcomp_bit = w[W_NORETCOMP_BIT];
	info.have_sched_switch = w[W_HAVE_SCHED_SWITCH];
	info.snapshot_mode = w[W_SNAPSHOT_MODE] != 0;
	info.per_cpu_mmaps = w[W_PER_CPU_MMAPS] != 0;
	if (n > W_CYC_BIT) { /* added together in perf 4.3 */
		info.mtc_bit = w[W_MTC_BIT];
		info.mtc_freq_bits = w[W_MTC_FREQ_BITS];
		info.tsc_ctc_n = (uint32_t)w[W_TSC_CTC_N];
		info.tsc_ctc_d = (uint32_t)w[W_TSC_CTC_D];
		info.cyc_bit = w[W_CYC_BIT];
	}
	info.max_nonturbo_ratio = (uint32_t)w[W_MAX_NONTURBO_RATIO];
	if (!get_filter(&c, w[W_FILTER_LEN], &info.filter))
		return ptc_fail_at(err, PTC_E_FORMAT, rec->off,
				   "AUXTRACE_INFO has a filter text that does not end");
	info.cap_event_trace = ptc_cur_le64(&c, &event_trace) && event_trace;
	*ret = info;
	return 0;
}

void ptc_pt_info_put(struct ptc_buf *b, const struct ptc_pt_info *info)
{
	const char *filter = info->filter ? info->filter : "";
	const uint64_t w[W_COUNT] = {
		[W_PMU_TYPE] = info->pmu_type,
		[W_TIME_SHIFT] = info->time.shift,
		[W_TIME_MULT] = info->time.mult,
		[W_TIME_ZERO] = info->time.zero,
		[W_CAP_USER_TIME_ZERO] = info->cap_user_time_zero,
		[W_TSC_BIT] = info->tsc_bit,
		[W_NORETCOMP_BIT] = info->noretcomp_bit,
		[W_HAVE_SCHED_SWITCH] = info->have_sched_switch,
		[W_SNAPSHOT_MODE] = info->snapshot_mode,
		[W_PER_CPU_MMAPS] = info->per_cpu_mmaps,
		[W_MTC_BIT] = info->mtc_bit,
		[W_MTC_FREQ_BITS] = info->mtc_freq_bits,
		[W_TSC_CTC_N] = info->tsc_ctc_n,
		[W_TSC_CTC_D] = info->tsc_ctc_d,
		[W_CYC_BIT] = info->cyc_bit,
		[W_MAX_NONTURBO_RATIO] = info->max_nonturbo_ratio,
		[W_FILTER_LEN] = strlen(filter),
	};
	const size_t start = ptc_rec_begin(b, PTC_REC_AUXTRACE_INFO, 0);
	size_t i;

	ptc_buf_le32(b, info->type);
	ptc_buf_le32(b, 0);
	for (i = 0; i < W_COUNT; i++)
		ptc_buf_le64(b, w[i]);
	if (*filter) {
		const size_t len = strlen(filter) + 1;

		ptc_buf_put(b, filter, len);
		ptc_buf_zero(b, -len & 7);
	}
	ptc_buf_le64(b, info->cap_event_trace);
	ptc_rec_end(b, start);
}

int ptc_time_conv_parse(const struct ptc_rec *rec, struct ptc_time_conv *ret, struct ptc_err *err)
{
	struct ptc_cur c = rec->body;
	uint64_t shift, mult, zero;

	if (!ptc_cur_le64(&c, &shift) || !ptc_cur_le64(&c, &mult) || !ptc_cur_le64(&c, &zero))
		return ptc_fail_at(err, PTC_E_FORMAT, rec->off, "TIME_CONV record is too short");
	if (!set_time(ret, shift, mult, zero))
		return ptc_fail_at(err, PTC_E_FORMAT, rec->off,
				   "TIME_CONV has an impossible clock: shift %" PRIu64
				   ", mult %" PRIu64,
				   shift, mult);
	return 0;
}

void ptc_time_conv_put(struct ptc_buf *b, const struct ptc_time_conv *tc)
{
	const size_t start = ptc_rec_begin(b, PTC_REC_TIME_CONV, 0);

	ptc_buf_le64(b, tc->shift);
	ptc_buf_le64(b, tc->mult);
	ptc_buf_le64(b, tc->zero);
	ptc_buf_le64(b, 0);	      /* time_cycles: used with short counters only */
	ptc_buf_le64(b, UINT64_MAX);  /* time_mask */
	ptc_buf_u8(b, tc->mult != 0); /* cap_user_time_zero */
	ptc_buf_zero(b, 7);	      /* cap_user_time_short, padding */
	ptc_rec_end(b, start);
}
