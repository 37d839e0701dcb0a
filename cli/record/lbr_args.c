/* SPDX-License-Identifier: MIT */
#include "cli/record/lbr_args.h"

#include <stdio.h>
#include <string.h>

#include "cli/common/args.h"
#include "cli/common/cli.h"

enum { WORD = 32, SEED_DEFAULT = 1 };

static const char *const names[] = {
	[PTC_SPOIL_NONE] = "none",     [PTC_SPOIL_TARGET] = "target",
	[PTC_SPOIL_SOURCE] = "source", [PTC_SPOIL_DROP] = "drop",
	[PTC_SPOIL_TOP] = "top",       [PTC_SPOIL_SWAP] = "swap",
	[PTC_SPOIL_SHIFT] = "shift",   [PTC_SPOIL_STALE_OLDEST] = "stale",
	[PTC_SPOIL_TYPE] = "type",     [PTC_SPOIL_FLAG] = "flag",
};

enum { MODES = sizeof(names) / sizeof(*names) };

const char *ptc_lbr_spoil_name(enum ptc_spoil mode)
{
	return (size_t)mode < MODES ? names[mode] : names[PTC_SPOIL_NONE];
}

/* Copy the text before the next ':' to @word. *@s advances behind the ':', or to the end. */
static bool next_word(const char **s, char word[WORD])
{
	const size_t len = strcspn(*s, ":");

	if (!len || len >= WORD)
		return false;
	(void)snprintf(word, WORD, "%.*s", (int)len, *s);
	*s += len + ((*s)[len] == ':' && (*s)[len + 1]);
	return true;
}

static bool parse_mode(char *word, struct ptc_lbr_spoil *ret)
{
	char *by = strchr(word, '=');
	uint64_t shift = 1;
	size_t i;

	if (by)
		*by++ = '\0';
	for (i = PTC_SPOIL_NONE + 1; i < MODES; i++)
		if (!strcmp(word, names[i]))
			ret->mode = (enum ptc_spoil)i;
	if (ret->mode != PTC_SPOIL_SHIFT)
		return !by && ret->mode != PTC_SPOIL_NONE;
	if (by && (!ptc_parse_u64(by, &shift) || !shift || shift > PTC_LBR_SHIFT_MAX))
		return false;
	ret->shift = (uint32_t)shift;
	return true;
}

bool ptc_lbr_args_spoil(const char *s, struct ptc_lbr_spoil *ret)
{
	struct ptc_lbr_spoil spoil = { .rate = 1, .seed = SEED_DEFAULT };
	char word[WORD];

	if (!next_word(&s, word) || !parse_mode(word, &spoil))
		return false;
	if (*s && (!next_word(&s, word) || !ptc_parse_count(word, &spoil.rate) || !spoil.rate))
		return false;
	if (*s && (!next_word(&s, word) || !ptc_parse_u64(word, &spoil.seed)))
		return false;
	if (*s)
		return false;
	*ret = spoil;
	return true;
}
