/* SPDX-License-Identifier: MIT */
/* Description: a core of another process, of other threads or of other files is refused. */
#include <criterion/criterion.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "auxtrace/record/crash_record.h"
#include "base/untrusted.h"
#include "decode/crash/core_match.h"
#include "decode/crash/crash_state.h"
#include "decode/image/codefile.h"
#include "decode/image/core.h"
#include "decode/sideband/process.h"
#include "lib_elf.h"
#include "lib_perfdata.h"

enum { PID = 34, OTHER = 12, TID = 35, ADDR = 0x400000, ID = 0x77 };

/* --- process and threads --- */

/* A core and the state of a crash, which agree. */
struct matched {
	uint8_t *bytes; /* owned; the recording: crashes of OTHER, then of PID */
	struct ptc_file *f;
	struct ptc_crash_state dead;
	struct ptc_crash_state_thread threads[2];
	struct ptc_core core;
	struct ptc_core_thread core_threads[3];
	uint64_t auxv[4], core_auxv[4];
	struct ptc_err err;
};

static void put_state(struct pd *p, uint64_t pid)
{
	struct ptc_crash c = { .kind = PTC_CRASH_SIGNAL };

	c.u.signal.pid = c.u.signal.tid = pid;
	c.u.signal.signo = 11;
	ptc_crash_put(&p->data, &c);
}

static void make(struct matched *m, bool both)
{
	static char path[] = "some.core";
	struct pd p;
	size_t len, i;

	memset(m, 0, sizeof(*m));
	pd_init(&p);
	pd_init_pt(&p, NULL);
	if (both)
		put_state(&p, OTHER);
	put_state(&p, PID);
	m->bytes = pd_finish(&p, &len);
	pd_release(&p);
	cr_assert_eq(ptc_file_open_bytes(m->bytes, len, "rec", &m->f, &m->err), 0, "%s",
		     m->err.msg);
	m->core.path = path;
	m->core.pid = PID;
	m->core.threads = m->core_threads;
	m->core.nthreads = m->dead.nthreads = 2;
	m->dead.threads = m->threads;
	m->dead.signal.pid = PID;
	for (i = 0; i < 2; i++) {
		m->threads[i].state.tid = PID + i;
		m->core_threads[i].tid = (uint32_t)(TID - i); /* in another order */
	}
	m->auxv[0] = m->core_auxv[0] = AT_RANDOM;
	m->auxv[1] = m->core_auxv[1] = 0x7ffc0000;
	m->dead.auxv = ptc_cur_init(m->auxv, sizeof(m->auxv));
	m->core.auxv = ptc_cur_init(m->core_auxv, sizeof(m->core_auxv));
}

static void release(struct matched *m)
{
	ptc_file_free(m->f);
	free(m->bytes);
}

static void agrees(struct matched *m)
{
	cr_assert_eq(ptc_core_match_state(&m->core, &m->dead, m->f, &m->err), 0, "%s", m->err.msg);
}

/* The message has the core's name and all of the words, which end with NULL. */
static void is_refused(int rc, const struct ptc_err *err, const char *const *words)
{
	cr_assert_eq(rc, PTC_E_USAGE);
	cr_assert(strstr(err->msg, "--core") || strstr(err->msg, "--pid"), "%s", err->msg);
	for (; *words; words++)
		cr_assert(strstr(err->msg, *words), "'%s' is not in: %s", *words, err->msg);
}

#define REFUSED(m, ...)                                                                            \
	is_refused(ptc_core_match_state(&(m)->core, &(m)->dead, (m)->f, &(m)->err), &(m)->err,     \
		   (const char *const[]){ "'some.core'", __VA_ARGS__, NULL })

Test(core_match, a_core_of_the_same_process_and_threads_is_accepted)
{
	struct matched m;

	make(&m, false);
	agrees(&m);
	m.core_threads[0].regs[PTC_REG_RIP] = 1; /* written at another time */
	agrees(&m);
	release(&m);
}

Test(core_match, what_one_of_both_does_not_have_cannot_differ)
{
	struct matched m;

	make(&m, false);
	m.core.pid = -1;
	agrees(&m);
	m.core.pid = 0;
	agrees(&m);
	m.core.auxv.end = m.core.auxv.pos;
	m.auxv[1]++;
	agrees(&m);
	m.core_threads[0].tid = 0; /* the writer did not know the IDs */
	m.core_threads[1].tid = 99;
	agrees(&m);
	m.core.nthreads = 0;
	agrees(&m);
	release(&m);
}

Test(core_match, another_pid_is_refused)
{
	struct matched m;

	make(&m, false);
	m.core.pid = OTHER;
	REFUSED(&m, "pid 12 in the core", "pid 34 in the recording", "omit --core");
	release(&m);
	make(&m, true);
	m.core.pid = OTHER;
	REFUSED(&m, "pid 12 in the core", "pid 34 in the report", "--pid 12");
	release(&m);
}

Test(core_match, another_process_with_the_same_pid_is_refused)
{
	struct matched m;

	make(&m, false);
	m.core_auxv[1] = 0x7ffd0000;
	REFUSED(&m, "pid 34", "AT_RANDOM", "0x7ffd0000 in the core", "0x7ffc0000 in the recording");
	m.core_auxv[0] = AT_NULL; /* what follows does not count */
	agrees(&m);
	release(&m);
}

Test(core_match, other_threads_are_refused)
{
	struct matched m;

	make(&m, false);
	m.core.nthreads = 3;
	m.core_threads[2].tid = 99;
	REFUSED(&m, "the core has thread 99, and the recording does not");
	m.core.nthreads = 1;
	REFUSED(&m, "the recording has thread 34, and the core does not");
	release(&m);
}

/* --- files --- */

/* A core of a file, and a recording that maps this file. */
struct mapped {
	struct ptc_origin code;
	struct ptc_procs ps;
	struct ptc_proc *p;
	struct ptc_codefile *file;
	struct ptc_core *core;
	struct ptc_core_thread thread;
	struct ptc_err err;
	char folder[64];
};

/* The core has the build-id @core, the recording @recorded; 0: none. */
static void map(struct mapped *m, uint8_t core, uint8_t recorded)
{
	const struct le_mapped maps[] = {
		{ ADDR, ADDR + 0x1000, 0, "/usr/bin/it" },
		{ ADDR + 0x1000, ADDR + 0x2000, 1, "/usr/bin/it" },
	};
	struct ptc_buf b = PTC_BUF_INIT, program = PTC_BUF_INIT;
	struct ptc_build_id id = { .len = 0 };

	memset(m, 0, sizeof(*m));
	le_folder(m->folder, sizeof(m->folder));
	le_program(&program, ADDR, core, "\xc3", 1);
	le_core(&b, PID, &(struct le_segment){ ADDR, program.bytes, program.len }, 1, maps, 2);
	cr_assert_eq(ptc_core_open(le_write(m->folder, "core", &b),
				   &(struct ptc_untrusted){ .root = 0 }, &m->core, &m->err),
		     0, "%s", m->err.msg);
	le_program(&program, ADDR, recorded, "\xc3", 1);
	(void)ptc_elf_build_id(program.bytes, program.len, &id);
	m->ps.origin = &m->code;
	m->p = ptc_procs_get(&m->ps, PID);
	m->file = ptc_codefiles_absent(&m->code.files, "/usr/bin/it", &id);
	cr_assert(m->p && m->file && ptc_procs_set_thread(&m->ps, TID, PID));
	cr_assert(ptc_addrspace_map(&m->p->as, ADDR + 0x1000, 0x1000, 0x1000, m->file));
	ptc_buf_release(&b);
	ptc_buf_release(&program);
}

static void unmap(struct mapped *m)
{
	ptc_core_free(m->core);
	ptc_procs_release(&m->ps);
	ptc_origin_release(&m->code);
	le_folder_remove(m->folder);
}

static void is_of(struct mapped *m, uint64_t pid, bool alone)
{
	cr_assert_eq(ptc_core_match_process(m->core, &m->ps, pid, alone, &m->err), 0, "%s",
		     m->err.msg);
}

#define NOT_OF(m, pid, alone, ...)                                                                 \
	is_refused(ptc_core_match_process((m)->core, &(m)->ps, pid, alone, &(m)->err), &(m)->err,  \
		   (const char *const[]){ "/core'", __VA_ARGS__, NULL })

Test(core_match, files_with_the_same_build_id_or_without_one_are_accepted)
{
	struct mapped m;

	map(&m, ID, ID);
	is_of(&m, PID, true);
	unmap(&m);
	map(&m, ID, 0);
	is_of(&m, PID, false);
	unmap(&m);
	map(&m, 0, ID);
	is_of(&m, PID, false);
	unmap(&m);
}

Test(core_match, another_build_id_is_refused)
{
	struct mapped m;

	map(&m, ID, ID + 1);
	NOT_OF(&m, PID, false, "'it'", "77111111111111111111111111111111", "in the core", "7811111",
	       "in the recording");
	unmap(&m);
}

Test(core_match, files_at_other_addresses_are_refused)
{
	struct mapped m;

	map(&m, ID, ID);
	ptc_addrspace_clear(&m.p->as);
	is_of(&m, PID, false); /* no file is known */
	cr_assert(ptc_addrspace_map(&m.p->as, ADDR + 0x5000, 0x1000, 0x1000, m.file));
	NOT_OF(&m, PID, false, "pid 34", "no file is at the same address");
	cr_assert(ptc_addrspace_map(&m.p->as, ADDR + 0x1000, 0x1000, 0x7000, m.file));
	NOT_OF(&m, PID, false, "no file is at the same address");
	m.file->from = PTC_CODE_CORE; /* the decoder has compared them */
	is_of(&m, PID, false);
	unmap(&m);
}

Test(core_match, without_a_state_the_recording_knows_the_process_and_the_thread)
{
	struct mapped m;

	map(&m, ID, ID);
	is_of(&m, OTHER, false);
	NOT_OF(&m, OTHER, true, "process 12", "no such process");
	unmap(&m);
	map(&m, ID, ID);
	m.core->threads = calloc(1, sizeof(m.thread));
	m.core->nthreads = 1;
	m.core->threads[0].tid = TID;
	is_of(&m, PID, true);
	m.core->threads[0].tid = TID + 1;
	is_of(&m, PID, false);
	NOT_OF(&m, PID, true, "thread 36", "no such thread");
	ptc_procs_release(&m.ps);
	m.ps.origin = &m.code;
	is_of(&m, PID, true); /* the recording knows nobody */
	unmap(&m);
}
