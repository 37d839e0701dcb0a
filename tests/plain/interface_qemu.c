/* SPDX-License-Identifier: MIT */
/*
 * Functions of QEMU that the plugin refers to and that interface.c never calls. The plugin is
 * linked with -z now, so all of them are resolved when it is loaded.
 */
#define QEMU_HAS(name)                                                                             \
	__attribute__((visibility("default"))) void qemu_plugin_##name(void);                      \
	void qemu_plugin_##name(void)                                                              \
	{                                                                                          \
	}

QEMU_HAS(insn_haddr)
QEMU_HAS(insn_size)
QEMU_HAS(insn_vaddr)
QEMU_HAS(register_vcpu_syscall_cb)
QEMU_HAS(register_vcpu_syscall_ret_cb)
QEMU_HAS(register_vcpu_tb_exec_cb)
QEMU_HAS(register_vcpu_tb_trans_cb)
QEMU_HAS(tb_get_insn)
QEMU_HAS(tb_n_insns)
QEMU_HAS(tb_vaddr)
#ifdef QEMU_10
QEMU_HAS(register_vcpu_tb_exec_inline_per_vcpu) /* since interface 2 */
QEMU_HAS(register_vcpu_discon_cb)		/* since interface 6, and in QEMU 10.2 */
#endif
