/* SPDX-License-Identifier: MIT */
/*
 * prog_stray null|sixteen|handled|alternate [core]: dies at an address without code, or on another
 * stack. The functions are fire, handle, main, in that order; those of a handler: on_signal.
 */
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define ALONE __attribute__((noinline, noclone))

static int (*volatile nowhere)(int);
static volatile int *volatile null;
static char room[1 << 16];

ALONE static int fire(int x)
{
	return nowhere(x) + 1;
}

ALONE static int handle(int x)
{
	return fire(x + 1) * 2;
}

ALONE static int store(int x)
{
	return *null + x;
}

static void on_signal(int sig)
{
	if (sig == SIGSEGV)
		abort();
	_exit(store(sig) + 1);
}

static void catch (int sig)
{
	const stack_t stack = { .ss_sp = room, .ss_size = sizeof(room) };
	struct sigaction act = { .sa_handler = on_signal, .sa_flags = SA_ONSTACK };

	(void)sigaltstack(&stack, NULL);
	(void)sigaction(sig, &act, NULL);
}

int main(int argc, char **argv)
{
	const struct rlimit none = { 0, 0 };
	const char how = argc > 1 ? argv[1][0] : 'n';

	if (argc < 3 || argv[2][0] != 'c')
		(void)setrlimit(RLIMIT_CORE, &none);
	if (how == 's')
		nowhere = (int (*)(int))(uintptr_t)16;
	if (how == 'h')
		catch (SIGSEGV);
	if (how == 'a') {
		catch (SIGUSR1);
		(void)raise(SIGUSR1);
	}
	return handle(argc);
}
