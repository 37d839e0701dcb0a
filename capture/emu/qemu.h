/* SPDX-License-Identifier: MIT */
/*
 * Declares the part of QEMU's plugin interface that the plugin uses. This part is equal in versions
 * 1 (QEMU 4.2 to 8.2) to 6 (QEMU 11.0). plugin_version.c chooses a version. A QEMU that does not
 * accept that version refuses to load the plugin. The functions are in the qemu-x86_64 that loads
 * the plugin.
 */
#ifndef PTC_CAPTURE_EMU_QEMU_H
#define PTC_CAPTURE_EMU_QEMU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* From this version on every callback gets user data, so the function types differ. */
enum { PTC_QEMU_OTHER_FORMS = 7 };

/* The interface version of the plugin. QEMU reads it after loading the plugin. */
extern __attribute__((visibility("default"))) int qemu_plugin_version;

struct qemu_plugin_tb;
struct qemu_plugin_insn;

/* Facts about the QEMU that loads the plugin. */
struct ptc_qemu_info {
	const char *target_name;
	struct {
		int min, cur; /* of the interface */
	} version;
	bool system_emulation;
};

typedef void ptc_qemu_trans_fn(uint64_t id, struct qemu_plugin_tb *tb);
typedef void ptc_qemu_exec_fn(unsigned int vcpu, void *data);
typedef void ptc_qemu_syscall_fn(uint64_t id, unsigned int vcpu, int64_t num, uint64_t a1,
				 uint64_t a2, uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6,
				 uint64_t a7, uint64_t a8);
typedef void ptc_qemu_sysret_fn(uint64_t id, unsigned int vcpu, int64_t num, int64_t ret);

/*
 * Registers a callback for each translated block of guest code. Its instructions are valid until
 * the callback returns.
 */
void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id, ptc_qemu_trans_fn *cb);
/* Calls @cb with @data each time @tb is entered. @flags: 0, the callback accesses no registers. */
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb, ptc_qemu_exec_fn *cb,
					  int flags, void *data);
/* Register callbacks before and after each system call of the guest. */
void qemu_plugin_register_vcpu_syscall_cb(uint64_t id, ptc_qemu_syscall_fn *cb);
void qemu_plugin_register_vcpu_syscall_ret_cb(uint64_t id, ptc_qemu_sysret_fn *cb);

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t i);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
/* Returns the number of instruction bytes that QEMU has read. */
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
/* Returns the address of the bytes in QEMU's own memory. */
void *qemu_plugin_insn_haddr(const struct qemu_plugin_insn *insn);

#endif
