/* SPDX-License-Identifier: MIT */
#include "seedfiles.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "lib_elf.h"
#include "lib_gopcln.h"
#include "lib_pt.h"
#include "ptcap/crash.h"

static void pad_to(struct ptc_buf *b, size_t len)
{
	if (b->len > len)
		abort();
	ptc_buf_zero(b, len - b->len);
}

static Elf64_Ehdr header(uint16_t type, uint16_t phnum)
{
	return (Elf64_Ehdr){ .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB,
					  EV_CURRENT },
			     .e_type = type,
			     .e_machine = EM_X86_64,
			     .e_version = EV_CURRENT,
			     .e_phoff = sizeof(Elf64_Ehdr),
			     .e_ehsize = sizeof(Elf64_Ehdr),
			     .e_phentsize = sizeof(Elf64_Phdr),
			     .e_phnum = phnum,
			     .e_shentsize = sizeof(Elf64_Shdr) };
}

/* --- a core --- */

static void put_note(struct ptc_buf *b, uint32_t type, const void *desc, size_t len)
{
	ptc_buf_le32(b, sizeof("CORE"));
	ptc_buf_le32(b, (uint32_t)len);
	ptc_buf_le32(b, type);
	ptc_buf_put(b, "CORE\0\0\0", 8);
	ptc_buf_put(b, desc, len);
	while (b->len % 4)
		ptc_buf_u8(b, 0);
}

static void put_notes(struct ptc_buf *b, int32_t pid)
{
	/* Offsets: struct elf_prpsinfo, elf_prstatus, siginfo of x86-64. */
	enum { PSINFO = 136, PSINFO_PID = 24, STATUS = 336, STATUS_PID = 32, REGS = 112 };
	static const uint8_t auxv[32] = { 33, [8] = 0x10 }; /* as in the state of sr_crash() */
	static uint8_t psinfo[PSINFO], status[STATUS], info[128];
	uint64_t regs[PTC_REG_COUNT] = { 0 };
	struct ptc_buf files = PTC_BUF_INIT;

	memcpy(psinfo + PSINFO_PID, &pid, sizeof(pid));
	put_note(b, NT_PRPSINFO, psinfo, sizeof(psinfo));
	regs[PTC_REG_RIP] = PT_CODE + 0x24;
	regs[PTC_REG_RSP] = SF_STACK;
	regs[PTC_REG_RBP] = SF_STACK + 16;
	status[12] = info[0] = 11;
	info[8] = 1;
	memcpy(status + STATUS_PID, &pid, sizeof(pid));
	memcpy(status + REGS, regs, sizeof(regs));
	put_note(b, NT_PRSTATUS, status, sizeof(status));
	put_note(b, NT_SIGINFO, info, sizeof(info));
	put_note(b, NT_AUXV, auxv, sizeof(auxv));
	ptc_buf_le64(&files, 1);
	ptc_buf_le64(&files, 0x1000);
	ptc_buf_le64(&files, PT_CODE);
	ptc_buf_le64(&files, PT_CODE + 0x1000);
	ptc_buf_le64(&files, 1);
	ptc_buf_str(&files, "/bin/gone", 1);
	put_note(b, NT_FILE, files.bytes, files.len);
	ptc_buf_release(&files);
}

void sf_core(struct ptc_buf *b, int32_t pid)
{
	enum { N = 3, NOTES = sizeof(Elf64_Ehdr) + N * sizeof(Elf64_Phdr), CODE = 0x1000 };
	const uint64_t stack[32] = { PT_CODE + 0xb, 0, SF_STACK + 48, PT_CODE + 0x10 };
	const Elf64_Ehdr eh = header(ET_CORE, N);
	struct ptc_buf notes = PTC_BUF_INIT;
	Elf64_Phdr ph[N] = { { .p_type = PT_NOTE, .p_offset = NOTES },
			     { .p_type = PT_LOAD,
			       .p_flags = PF_R | PF_X,
			       .p_offset = CODE,
			       .p_vaddr = PT_CODE,
			       .p_filesz = PT_CODE_LEN,
			       .p_memsz = 0x1000 },
			     { .p_type = PT_LOAD,
			       .p_flags = PF_R | PF_W,
			       .p_offset = CODE + 64,
			       .p_vaddr = SF_STACK,
			       .p_filesz = sizeof(stack),
			       .p_memsz = 0x1000 } };

	put_notes(&notes, pid);
	ph[0].p_filesz = notes.len;
	ptc_buf_reset(b);
	ptc_buf_put(b, &eh, sizeof(eh));
	ptc_buf_put(b, ph, sizeof(ph));
	ptc_buf_put(b, notes.bytes, notes.len);
	ptc_buf_release(&notes);
	pad_to(b, CODE);
	ptc_buf_put(b, pt_code, PT_CODE_LEN);
	pad_to(b, CODE + 64);
	ptc_buf_put(b, stack, sizeof(stack));
	if (ptc_buf_failed(b))
		abort();
}

/* --- a Go program --- */

void sf_go(struct ptc_buf *b)
{
	enum { TABLE = 0x500000, SECTIONS = 3 };
	static const char names[] = "\0.gopclntab\0.shstrtab";
	struct ptc_buf table = PTC_BUF_INIT;
	Elf64_Ehdr eh = header(ET_EXEC, 2);
	Elf64_Phdr ph[2] = { { .p_type = PT_LOAD,
			       .p_flags = PF_R | PF_X,
			       .p_offset = LE_CODE_OFF,
			       .p_vaddr = GP_TEXT,
			       .p_filesz = GP_END,
			       .p_memsz = GP_END },
			     { .p_type = PT_LOAD,
			       .p_flags = PF_R,
			       .p_offset = LE_CODE_OFF + GP_END,
			       .p_vaddr = TABLE } };
	Elf64_Shdr sh[SECTIONS] = { { 0 },
				    { .sh_name = 1,
				      .sh_type = SHT_PROGBITS,
				      .sh_flags = SHF_ALLOC,
				      .sh_addr = TABLE,
				      .sh_offset = LE_CODE_OFF + GP_END },
				    { .sh_name = 12, .sh_type = SHT_STRTAB } };

	gp_table(&table, GP_1_20);
	ph[1].p_filesz = ph[1].p_memsz = sh[1].sh_size = table.len;
	sh[2].sh_offset = LE_CODE_OFF + GP_END + table.len;
	sh[2].sh_size = sizeof(names);
	eh.e_shnum = SECTIONS;
	eh.e_shstrndx = 2;
	eh.e_shoff = (sh[2].sh_offset + sizeof(names) + 7) & ~(uint64_t)7;
	ptc_buf_reset(b);
	ptc_buf_put(b, &eh, sizeof(eh));
	ptc_buf_put(b, ph, sizeof(ph));
	pad_to(b, LE_CODE_OFF + GP_MAIN);
	ptc_buf_put(b, pt_code, PT_CODE_LEN);
	pad_to(b, LE_CODE_OFF + GP_END);
	ptc_buf_put(b, table.bytes, table.len);
	ptc_buf_put(b, names, sizeof(names));
	pad_to(b, eh.e_shoff);
	ptc_buf_put(b, sh, sizeof(sh));
	ptc_buf_release(&table);
	if (ptc_buf_failed(b))
		abort();
}
