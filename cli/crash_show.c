/* SPDX-License-Identifier: MIT */
#include "cli.h"

int ptc_cmd_crash_show(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	return PTC_EXIT_FAIL;
}
