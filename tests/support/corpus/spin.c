// SPDX-License-Identifier: MIT
// Handles SIGALRM in an endless loop.
#include <signal.h>
#include <unistd.h>
static void on(int s)
{
	(void)s;
	_exit(0);
}
int main(void)
{
	signal(SIGALRM, on);
	alarm(1);
	for (;;)
		;
}
