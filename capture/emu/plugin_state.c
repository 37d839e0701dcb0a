/* SPDX-License-Identifier: MIT */
/* State of the plugin in this process and thread, and access to the guest's memory. */
#include <sys/uio.h>
#include <unistd.h>

#include "capture/emu/guest_registers.h"
#include "capture/emu/plugin.h"

struct ptc_emu_proc ptc_emu_proc;
__thread struct ptc_emu_me ptc_emu_me;

bool ptc_emu_know_env(const uint64_t *env, uint64_t start)
{
	/* target/i386/cpu.h: rip follows 16 registers; QEMU 11.0 has space for 32 (APX). */
	static const unsigned int places[] = { 16, 32 };
	unsigned int i;

	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (env[places[i]] == start) {
			ptc_emu_proc.env_rip = places[i];
			return true;
		}
	return false;
}

size_t ptc_emu_read_guest(uint64_t guest, void *out, size_t len)
{
	const struct iovec local = { .iov_base = out, .iov_len = len };
	const struct iovec remote = { .iov_base = ptc_emu_host(guest), .iov_len = len };
	const ssize_t n = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);

	return n > 0 ? (size_t)n : 0;
}

bool ptc_emu_registers(const struct ptc_emu_me *m, struct ptc_emu_regs *ret)
{
	const struct ptc_emu_env e = { .pid = getpid(),
				       .addr = (uint64_t)(uintptr_t)m->env,
				       .rip = ptc_emu_proc.env_rip,
				       .parked = atomic_load(&m->parked),
				       .in_call = m->in_call };

	return ptc_emu_env_registers(&e, ret);
}
