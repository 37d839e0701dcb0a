/* SPDX-License-Identifier: MIT */
/* Description: the session reads the crash states that the tracer process adds or replaces. */
#include <criterion/criterion.h>
#include <string.h>

#include "capture/crash/state_channel.h"

static struct ptc_states states = PTC_STATES_INIT;

static void set_up(void)
{
	struct ptc_err err;

	cr_assert_eq(ptc_states_open(&states, &err), 0);
}

static void tear_down(void)
{
	ptc_states_release(&states);
}

TestSuite(state_channel, .init = set_up, .fini = tear_down);

static void write_text(const char *text, int (*how)(const struct ptc_states *,
						    const struct ptc_buf *, struct ptc_err *))
{
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_err err;

	ptc_buf_put(&b, text, strlen(text));
	cr_assert_eq(how(&states, &b, &err), 0);
	ptc_buf_release(&b);
}

static void check(const struct ptc_buf *b, const char *text)
{
	cr_assert_eq(b->len, strlen(text));
	cr_assert(!b->len || !memcmp(b->bytes, text, b->len));
}

Test(state_channel, what_is_added_is_taken_once)
{
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_err err;

	write_text("abc", ptc_states_add_records);
	cr_assert_eq(ptc_states_take(&states, &b, &err), 0);
	write_text("de", ptc_states_add_records);
	cr_assert_eq(ptc_states_take(&states, &b, &err), 0);
	cr_assert_eq(ptc_states_take(&states, &b, &err), 0);
	check(&b, "abcde");
	ptc_buf_release(&b);
}

Test(state_channel, what_is_replaced_is_read_whole_again_and_again)
{
	static const char *const texts[] = { "abcdef", "xy", "", "12345" };
	struct ptc_err err;
	size_t i, again;

	for (i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		write_text(texts[i], ptc_states_replace);
		for (again = 0; again < 2; again++) {
			struct ptc_buf b = PTC_BUF_INIT;

			cr_assert_eq(ptc_states_get(&states, &b, &err), 0);
			check(&b, texts[i]);
			ptc_buf_release(&b);
		}
	}
}

Test(state_channel, without_a_file_there_is_nothing)
{
	struct ptc_states none = PTC_STATES_INIT;
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_err err;

	cr_assert_eq(ptc_states_take(&none, &b, &err), 0);
	cr_assert_eq(ptc_states_get(&none, &b, &err), 0);
	cr_assert_eq(b.len, 0);
}
