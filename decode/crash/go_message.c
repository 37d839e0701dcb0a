/* SPDX-License-Identifier: MIT */
#include "decode/crash/go_message.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/cursor.h"
#include "decode/crash/crash.h"
#include "decode/session/item_lookup.h"
#include "decode/symbols/go_runtime.h"

enum { NUMBER = 96 };

/* --- numbers --- */

/* Go prints seven digits, and at least three of the exponent. */
static void print_float(double f, char ret[NUMBER])
{
	char digits[NUMBER], *e;

	if (isnan(f) || isinf(f)) {
		(void)snprintf(ret, NUMBER, "%s", isnan(f) ? "NaN" : f > 0 ? "+Inf" : "-Inf");
		return;
	}
	(void)snprintf(digits, sizeof(digits), "%+.6e", f);
	e = strchr(digits, 'e');
	if (!e || strlen(e) != 4) { /* "e+10" */
		(void)snprintf(ret, NUMBER, "%s", digits);
		return;
	}
	(void)snprintf(ret, NUMBER, "%.*s%c0%s", (int)(e + 1 - digits), digits, e[1], e + 2);
}

static double float_at(const uint8_t *bytes, bool narrow)
{
	const uint64_t bits64 = ptc_le64(bytes);
	const uint32_t bits32 = ptc_le32(bytes);
	double wide;
	float f;

	memcpy(&f, &bits32, sizeof(f));
	memcpy(&wide, &bits64, sizeof(wide));
	return narrow ? (double)f : wide;
}

static void print_complex(const uint8_t *bytes, bool narrow, char ret[NUMBER])
{
	char real[NUMBER], imaginary[NUMBER];

	print_float(float_at(bytes, narrow), real);
	print_float(float_at(bytes + (narrow ? 4 : 8), narrow), imaginary);
	(void)snprintf(ret, NUMBER, "(%.40s%.40si)", real, imaginary);
}

/* Returns false if the value is no number and no truth value. */
static bool print_number(const struct ptc_go_panic *p, char ret[NUMBER])
{
	const uint64_t word = ptc_le64(p->value);

	switch (p->kind) {
	case PTC_GO_BOOL:
		(void)snprintf(ret, NUMBER, "%s", p->value[0] ? "true" : "false");
		return true;
	case PTC_GO_INT8:
		(void)snprintf(ret, NUMBER, "%d", (int8_t)p->value[0]);
		return true;
	case PTC_GO_INT16:
		(void)snprintf(ret, NUMBER, "%d", (int16_t)ptc_le16(p->value));
		return true;
	case PTC_GO_INT32:
		(void)snprintf(ret, NUMBER, "%" PRId32, (int32_t)ptc_le32(p->value));
		return true;
	case PTC_GO_INT:
	case PTC_GO_INT64:
		(void)snprintf(ret, NUMBER, "%" PRId64, (int64_t)word);
		return true;
	case PTC_GO_UINT:
	case PTC_GO_UINT8:
	case PTC_GO_UINT16:
	case PTC_GO_UINT32:
	case PTC_GO_UINT64:
	case PTC_GO_UINTPTR: /* shorter values have zeros behind them */
		(void)snprintf(ret, NUMBER, "%" PRIu64, word);
		return true;
	case PTC_GO_FLOAT32:
	case PTC_GO_FLOAT64:
		print_float(float_at(p->value, p->kind == PTC_GO_FLOAT32), ret);
		return true;
	case PTC_GO_COMPLEX64:
	case PTC_GO_COMPLEX128:
		print_complex(p->value, p->kind == PTC_GO_COMPLEX64, ret);
		return true;
	default:
		return false;
	}
}

/* --- the text --- */

bool ptc_go_message_text(const struct ptc_go_panic *p, const char *type, char *ret, size_t size)
{
	const bool own = strchr(type, '.') != NULL; /* a type of a package, not of the language */
	char number[NUMBER];
	int n;

	if (p->kind == PTC_GO_NIL)
		n = snprintf(ret, size, "nil");
	else if (p->kind == PTC_GO_STRING && own)
		n = snprintf(ret, size, "%s(\"%s\")", type, p->text);
	else if (p->kind == PTC_GO_STRING)
		n = snprintf(ret, size, "%s", p->text);
	else if (!print_number(p, number))
		n = snprintf(ret, size, "(%s) 0x%" PRIx64, type, p->addr);
	else if (own)
		n = snprintf(ret, size, "%s(%s)", type, number);
	else
		n = snprintf(ret, size, "%s", number);
	return n >= 0 && (size_t)n < size;
}

/* --- the program --- */

/* Finds the code of the runtime's function that panics. It is on the stack until the end. */
static bool find_runtime(const struct ptc_crash_report *r, uint64_t *ret_ip)
{
	const struct ptc_crash_stack *s = ptc_crash_report_believed(r);
	struct ptc_crash_place place = PTC_CRASH_PLACE_INIT;
	size_t i;

	for (i = 0; i < s->n; i++) {
		ptc_crash_place_frame(r, &s->frames[i], &place);
		if (place.function && !strcmp(place.function, "runtime.gopanic")) {
			*ret_ip = place.code;
			return true;
		}
	}
	return false;
}

static size_t read_saved_bytes(void *ctx, uint64_t addr, void *to, size_t len)
{
	return ptc_crash_state_memory(ctx, addr, to, len);
}

bool ptc_go_message_read(const struct ptc_crash_report *r, const struct ptc_crash_message *at,
			 struct ptc_runtime_message *ret)
{
	const struct ptc_memory_view v = { (void *)(uintptr_t)&r->dead, read_saved_bytes };
	struct ptc_go_layout layout;
	struct ptc_go_panic panic;
	char type[PTC_MESSAGE_TYPE] = "";
	Dwarf *dwarf = NULL;
	Dwfl_Module *mod;
	uint64_t ip;

	if (!find_runtime(r, &ip))
		return false;
	mod = ptc_decode_module(r->d, (int32_t)r->dead.signal.pid, ip, &dwarf);
	if (!ptc_go_runtime_layout(dwarf, &layout) ||
	    !ptc_go_panic_read(&v, &layout, at->addr, &panic))
		return false;
	if (panic.kind != PTC_GO_NIL && !ptc_go_runtime_type(mod, panic.name, type, sizeof(type)))
		(void)snprintf(type, sizeof(type), "?");
	*ret = (struct ptc_runtime_message){ .kind = PTC_CRASH_GO_PANIC,
					     .goroutine = panic.goroutine };
	ret->cut = !ptc_go_message_text(&panic, type + (panic.star && type[0] == '*'), ret->text,
					sizeof(ret->text)) ||
		   panic.text_cut;
	return true;
}
