// SPDX-License-Identifier: GPL-2.0
/*
 * softpt: keeps all written bytes outside the AUX areas. Tests compare windows of a ring with them.
 *
 * With keep=MIB, debugfs has files for each CPU below the PMU's name: CPU.bytes, the stream;
 * CPU.turns, the traced thread from each offset on; CPU.count, the length of the stream so far.
 * The stream ends when MIB is full.
 */
#include "softpt.h"
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/vmalloc.h>

static unsigned int keep; /* MiB of the stream, and of the turns, of each CPU */
module_param(keep, uint, 0444);

/* The thread from byte @at of the stream on; 0: none. */
struct turn {
	u64 at, tid;
};

struct kept {
	struct debugfs_blob_wrapper bytes, turns;
	u64 count;
	pid_t last;
};

static DEFINE_PER_CPU(struct kept, kepts);
static struct dentry *dir;

static void append(struct debugfs_blob_wrapper *to, const void *from, size_t n)
{
	if (!to->data || to->size + n > (size_t)keep << 20)
		return;
	memcpy(to->data + to->size, from, n);
	to->size += n;
}

void keep_bytes(const void *from, size_t n)
{
	struct kept *k = this_cpu_ptr(&kepts);

	append(&k->bytes, from, n);
	k->count += n;
}

void keep_turn(pid_t tid)
{
	struct kept *k = this_cpu_ptr(&kepts);
	struct turn turn = { k->count, tid };

	if (!tid || tid != k->last)
		append(&k->turns, &turn, sizeof(turn));
	k->last = tid;
}

static int show(struct kept *k, int cpu)
{
	char name[32];

	k->bytes.data = vmalloc((size_t)keep << 20);
	k->turns.data = vmalloc((size_t)keep << 20);
	if (!k->bytes.data || !k->turns.data)
		return -ENOMEM;
	snprintf(name, sizeof(name), "%d.bytes", cpu);
	debugfs_create_blob(name, 0400, dir, &k->bytes);
	snprintf(name, sizeof(name), "%d.turns", cpu);
	debugfs_create_blob(name, 0400, dir, &k->turns);
	snprintf(name, sizeof(name), "%d.count", cpu);
	debugfs_create_u64(name, 0400, dir, &k->count);
	return 0;
}

int keep_init(const char *name)
{
	int cpu, err = 0;

	if (!keep)
		return 0;
	dir = debugfs_create_dir(name, NULL);
	for_each_possible_cpu(cpu) err = err ?: show(per_cpu_ptr(&kepts, cpu), cpu);
	if (err)
		keep_exit();
	return err;
}

void keep_exit(void)
{
	int cpu;

	debugfs_remove_recursive(dir);
	for_each_possible_cpu(cpu)
	{
		vfree(per_cpu(kepts, cpu).bytes.data);
		vfree(per_cpu(kepts, cpu).turns.data);
	}
}
