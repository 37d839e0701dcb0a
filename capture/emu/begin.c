/* SPDX-License-Identifier: MIT */
/*
 * Before a program's first instruction: gives the program its environment and its name. Both came
 * here in a form that QEMU does not heed (environ.h).
 */
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "capture/emu/environ.h"
#include "capture/emu/plugin.h"

static const char gives_up[] =
	"ptcap: this QEMU keeps its registers elsewhere, so the program has no environment; "
	"--source step does without QEMU\n";

/* In the guest's memory: argc, argv..., NULL, then the strings. */
static void show_to_guest(uint64_t rsp)
{
	uint64_t *at = (uint64_t *)(rsp + ptc_emu_proc.base);

	for (at += *at + 2; *at; at++)
		ptc_emu_environ_flip((char *)(*at + ptc_emu_proc.base));
}

/* Turns round the order of the @n strings of environ, which has @len bytes from @text on. */
static void turn(char *text, size_t len, size_t n)
{
	char *copy = malloc(len), *from = copy;
	size_t size;

	if (!copy)
		return;
	memcpy(copy, text, len);
	for (text += len; n--; from += size) {
		size = strlen(from) + 1;
		text -= size;
		memcpy(text, from, size);
		environ[n] = text;
	}
	free(copy);
}

/* QEMU's own environment is what others see in /proc/PID/environ. */
static void show_to_others(void)
{
	size_t n = 0, len = 0;

	for (; environ[n]; n++) {
		if (environ[n] != environ[0] + len)
			return; /* no longer as the kernel put it there */
		len += strlen(environ[n]) + 1;
	}
	if (ptc_emu_proc.sh->turns_env && n)
		turn(environ[0], len, n);
	for (n = 0; environ[n]; n++)
		ptc_emu_environ_flip(environ[n]);
}

void ptc_emu_begin(const uint64_t *env, uint64_t start)
{
	static bool begun; /* the block may be entered again */

	if (begun)
		return;
	begun = true;
	if (env[PTC_ENV_RIP] != start) {
		(void)!write(STDERR_FILENO, gives_up, sizeof(gives_up) - 1);
		_exit(125);
	}
	show_to_guest(env[PTC_ENV_RSP]);
	show_to_others();
	(void)prctl(PR_SET_NAME, ptc_emu_proc.comm);
}
