/* SPDX-License-Identifier: MIT */
/*
 * Runs whole commands on files that were damaged with knowledge of their format: see README.md. The
 * sanitizers and libFuzzer's limits of time and memory judge. Any exit code is right.
 */
#include "../fuzz.h"
#include "command.h"
#include "mutate.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t len, size_t max, unsigned int seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *one, size_t one_len, const uint8_t *two,
				 size_t two_len, uint8_t *out, size_t max, unsigned int seed);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	cm_begin();
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct archive a;

	ar_read(&a, bytes, len);
	(void)cm_run(&a);
	ar_release(&a);
	return 0;
}

static struct mu_random random_of(unsigned int seed)
{
	return (struct mu_random){ .state = seed * 0x9e3779b97f4a7c15u + 1 };
}

static void mutate_part(struct mu_random *r, struct ar_part *p)
{
	switch (p->kind) {
	case AR_RECORDING:
	case AR_FOLDER:
	case AR_FOLDER_CPU:
		mu_recording(r, &p->bytes);
		break;
	case AR_PT:
		(void)mu_packets(r, &p->bytes, 0, p->bytes.len);
		break;
	case AR_JITDUMP:
		mu_jitdump(r, &p->bytes);
		break;
	case AR_MAP:
	case AR_KALLSYMS:
	case AR_FOLDER_SYMS:
	case AR_DEP:
		mu_text(r, &p->bytes);
		break;
	default:
		mu_elf(r, &p->bytes);
		break;
	}
}

static void mutate(struct mu_random *r, struct archive *a)
{
	size_t i;

	if (!a->n || mu_once_in(r, 8)) {
		a->choices[mu_below(r, AR_CHOICES)] = (uint8_t)mu_next(r);
		if (mu_once_in(r, 16))
			a->command = (uint8_t)mu_next(r);
		return;
	}
	/* Half of the changes are in the first part, the recording. */
	i = mu_once_in(r, 2) ? 0 : mu_below(r, a->n);
	mutate_part(r, &a->parts[i]);
	if (mu_once_in(r, 256)) {
		ptc_buf_release(&a->parts[i].bytes);
		a->parts[i] = a->parts[--a->n];
	}
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t len, size_t max, unsigned int seed)
{
	struct mu_random r = random_of(seed);
	struct archive a;
	size_t times, n;

	ar_read(&a, data, len);
	for (times = 1 + mu_below(&r, 4); times; times--)
		mutate(&r, &a);
	n = ar_write(&a, data, max);
	ar_release(&a);
	return n ? n : len;
}

/* Combines the first input with a part of the second, or with its command. */
size_t LLVMFuzzerCustomCrossOver(const uint8_t *one, size_t one_len, const uint8_t *two,
				 size_t two_len, uint8_t *out, size_t max, unsigned int seed)
{
	struct mu_random r = random_of(seed);
	const struct ar_part *from;
	struct archive a, b;
	size_t i, n;

	ar_read(&a, one, one_len);
	ar_read(&b, two, two_len);
	if (!b.n || mu_once_in(&r, 2)) {
		a.command = b.command;
		for (i = 0; i < AR_CHOICES; i++)
			a.choices[i] = b.choices[i];
	} else {
		from = &b.parts[mu_below(&r, b.n)];
		for (i = 0; i < a.n && a.parts[i].kind != from->kind; i++)
			;
		if (i < a.n)
			(void)mu_splice(&a.parts[i].bytes, 0, a.parts[i].bytes.len,
					from->bytes.bytes, from->bytes.len);
		else
			(void)ar_add(&a, from->kind, from->bytes.bytes, from->bytes.len);
	}
	n = ar_write(&a, out, max);
	ar_release(&a);
	ar_release(&b);
	return n;
}
