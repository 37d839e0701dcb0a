/* SPDX-License-Identifier: MIT */
#include "lib_elf.h"

#include <elf.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void must(int ok)
{
	if (!ok)
		abort();
}

static void pad_to(struct ptc_buf *b, size_t len)
{
	must(b->len <= len);
	ptc_buf_zero(b, len - b->len);
}

static void put_note(struct ptc_buf *b, uint32_t type, const char *name, const void *desc,
		     size_t len)
{
	ptc_buf_le32(b, (uint32_t)strlen(name) + 1);
	ptc_buf_le32(b, (uint32_t)len);
	ptc_buf_le32(b, type);
	ptc_buf_str(b, name, 4);
	ptc_buf_put(b, desc, len);
	while (b->len % 4)
		ptc_buf_u8(b, 0);
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

void le_program(struct ptc_buf *b, uint64_t addr, uint8_t id, const void *code, size_t len)
{
	static const char strings[] = "\0_text\0code_start\0.text";
	Elf64_Ehdr eh = header(ET_EXEC, 2);
	uint8_t bytes[20];
	const size_t note = sizeof(eh) + 2 * sizeof(Elf64_Phdr);
	const uint64_t at = addr + LE_CODE_OFF;
	const Elf64_Phdr ph[2] = {
		{ .p_type = PT_NOTE, .p_offset = note, .p_filesz = id ? 36 : 0, .p_align = 4 },
		{ .p_type = PT_LOAD,
		  .p_flags = PF_R | PF_X,
		  .p_offset = LE_CODE_OFF,
		  .p_vaddr = at,
		  .p_filesz = len,
		  .p_memsz = len,
		  .p_align = 0x1000 },
	};
	const Elf64_Sym syms[3] = {
		{ 0 },
		{ .st_name = 1, .st_info = STB_GLOBAL << 4, .st_shndx = 1, .st_value = at },
		{ .st_name = 7,
		  .st_info = STB_GLOBAL << 4 | STT_FUNC,
		  .st_shndx = 1,
		  .st_value = at,
		  .st_size = len },
	};
	const size_t off = (LE_CODE_OFF + len + 7) & ~(size_t)7;
	const Elf64_Shdr sh[4] = {
		{ 0 },
		{ .sh_name = 18,
		  .sh_type = SHT_PROGBITS,
		  .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
		  .sh_addr = at,
		  .sh_offset = LE_CODE_OFF,
		  .sh_size = len },
		{ .sh_type = SHT_SYMTAB,
		  .sh_offset = off,
		  .sh_size = sizeof(syms),
		  .sh_link = 3,
		  .sh_entsize = sizeof(syms[0]) },
		{ .sh_type = SHT_STRTAB,
		  .sh_offset = off + sizeof(syms),
		  .sh_size = sizeof(strings) },
	};

	eh.e_shnum = 4;
	eh.e_shoff = (off + sizeof(syms) + sizeof(strings) + 7) & ~(size_t)7;
	eh.e_shstrndx = 3;
	memset(bytes, 0x11, sizeof(bytes));
	bytes[0] = id;
	ptc_buf_reset(b);
	ptc_buf_put(b, &eh, sizeof(eh));
	ptc_buf_put(b, ph, sizeof(ph));
	if (id)
		put_note(b, NT_GNU_BUILD_ID, "GNU", bytes, sizeof(bytes));
	pad_to(b, LE_CODE_OFF);
	ptc_buf_put(b, code, len);
	pad_to(b, off);
	ptc_buf_put(b, syms, sizeof(syms));
	ptc_buf_put(b, strings, sizeof(strings));
	pad_to(b, eh.e_shoff);
	ptc_buf_put(b, sh, sizeof(sh));
	must(!ptc_buf_failed(b));
}

void le_module(struct ptc_buf *b, uint8_t id, const char *vermagic)
{
	enum { NOTE = LE_LATE + 1, MODINFO, SYMTAB, STRTAB, N };
	static const char *const names[N] = { "",	  ".noinstr.text", ".init.text", ".data",
					      ".text",	  ".exit.text",	   ".text.late", ".note.id",
					      ".modinfo", ".symtab",	   ".strtab" };
	static const char *const funcs[LE_LATE + 1] = { NULL,	  "m_noinstr", "m_init", "m_data",
							"m_text", "m_exit",    "m_late" };
	static const uint8_t sizes[LE_LATE + 1] = { 0, 0x11, 0x40, 8, 0x30, 8, 0x10 };
	struct ptc_buf strings = PTC_BUF_INIT, syms = PTC_BUF_INIT;
	Elf64_Shdr sh[N] = { { 0 } };
	Elf64_Ehdr eh = header(ET_REL, 0);
	uint8_t bytes[20];
	int i;

	eh.e_phoff = 0;
	ptc_buf_reset(b);
	ptc_buf_zero(b, sizeof(eh));
	ptc_buf_zero(&syms, sizeof(Elf64_Sym));
	for (i = 0; i < N; i++) {
		sh[i].sh_name = (Elf64_Word)strings.len;
		ptc_buf_str(&strings, names[i], 1);
	}
	for (i = 1; i <= LE_LATE; i++) {
		const Elf64_Sym sym = { .st_name = (Elf64_Word)strings.len,
					.st_info = STB_GLOBAL << 4 |
						   (i == LE_DATA ? STT_NOTYPE : STT_FUNC),
					.st_shndx = (Elf64_Half)i,
					.st_size = sizes[i] };

		ptc_buf_str(&strings, funcs[i], 1);
		ptc_buf_put(&syms, &sym, sizeof(sym));
		sh[i].sh_type = SHT_PROGBITS;
		sh[i].sh_flags = SHF_ALLOC | (i == LE_DATA ? SHF_WRITE : SHF_EXECINSTR);
		sh[i].sh_addralign = i == LE_EXIT ? 1 : 0x10;
		sh[i].sh_offset = b->len;
		sh[i].sh_size = sizes[i];
		ptc_buf_zero(b, sizes[i]);
	}
	memset(bytes, 0x11, sizeof(bytes));
	bytes[0] = id;
	pad_to(b, (b->len + 7) & ~(size_t)7);
	sh[NOTE] = (Elf64_Shdr){ .sh_name = sh[NOTE].sh_name,
				 .sh_type = SHT_NOTE,
				 .sh_flags = SHF_ALLOC,
				 .sh_addralign = 4,
				 .sh_offset = b->len,
				 .sh_size = id ? 36 : 0 };
	if (id)
		put_note(b, NT_GNU_BUILD_ID, "GNU", bytes, sizeof(bytes));
	sh[MODINFO].sh_type = vermagic ? SHT_PROGBITS : SHT_NULL;
	sh[MODINFO].sh_offset = b->len;
	if (vermagic) {
		ptc_buf_str(b, "license=GPL", 1);
		ptc_buf_put(b, "vermagic=", 9);
		ptc_buf_str(b, vermagic, 1);
	}
	sh[MODINFO].sh_size = b->len - sh[MODINFO].sh_offset;
	pad_to(b, (b->len + 7) & ~(size_t)7);
	sh[SYMTAB] = (Elf64_Shdr){ .sh_name = sh[SYMTAB].sh_name,
				   .sh_type = SHT_SYMTAB,
				   .sh_offset = b->len,
				   .sh_size = syms.len,
				   .sh_link = STRTAB,
				   .sh_entsize = sizeof(Elf64_Sym) };
	ptc_buf_put(b, syms.bytes, syms.len);
	sh[STRTAB].sh_type = SHT_STRTAB;
	sh[STRTAB].sh_offset = b->len;
	sh[STRTAB].sh_size = strings.len;
	ptc_buf_put(b, strings.bytes, strings.len);
	pad_to(b, (b->len + 7) & ~(size_t)7);
	eh.e_shoff = b->len;
	eh.e_shnum = N;
	eh.e_shstrndx = STRTAB;
	ptc_buf_put(b, sh, sizeof(sh));
	must(!ptc_buf_failed(b) && !ptc_buf_failed(&strings) && !ptc_buf_failed(&syms));
	memcpy(b->bytes, &eh, sizeof(eh));
	ptc_buf_release(&strings);
	ptc_buf_release(&syms);
}

const char *le_id(uint8_t id)
{
	static char hex[41];
	size_t i;

	snprintf(hex, sizeof(hex), "%02x", id);
	for (i = 2; i < 40; i++)
		hex[i] = '1';
	return hex;
}

static void put_core_notes(struct ptc_buf *b, int32_t pid, const struct le_mapped *maps,
			   size_t nmaps)
{
	struct ptc_buf files = PTC_BUF_INIT;
	uint8_t info[136] = { 0 };
	size_t i;

	memcpy(info + 24, &pid, sizeof(pid));
	if (pid)
		put_note(b, NT_PRPSINFO, "CORE", info, sizeof(info));
	ptc_buf_le64(&files, nmaps);
	ptc_buf_le64(&files, 4096);
	for (i = 0; i < nmaps; i++) {
		ptc_buf_le64(&files, maps[i].start);
		ptc_buf_le64(&files, maps[i].end);
		ptc_buf_le64(&files, maps[i].page);
	}
	for (i = 0; i < nmaps; i++)
		ptc_buf_str(&files, maps[i].name, 1);
	put_note(b, NT_FILE, "CORE", files.bytes, files.len);
	ptc_buf_release(&files);
}

void le_core(struct ptc_buf *b, int32_t pid, const struct le_segment *segs, size_t nsegs,
	     const struct le_mapped *maps, size_t nmaps)
{
	const Elf64_Ehdr eh = header(ET_CORE, (uint16_t)(nsegs + 1));
	const size_t head = sizeof(eh) + (nsegs + 1) * sizeof(Elf64_Phdr);
	struct ptc_buf notes = PTC_BUF_INIT;
	Elf64_Phdr ph = { .p_type = PT_NOTE, .p_offset = head };
	size_t i, off;

	put_core_notes(&notes, pid, maps, nmaps);
	ph.p_filesz = notes.len;
	off = (head + notes.len + 4095) & ~(size_t)4095;
	ptc_buf_reset(b);
	ptc_buf_put(b, &eh, sizeof(eh));
	ptc_buf_put(b, &ph, sizeof(ph));
	for (i = 0; i < nsegs; i++) {
		ph = (Elf64_Phdr){ .p_type = PT_LOAD,
				   .p_flags = PF_R | PF_X,
				   .p_offset = off,
				   .p_vaddr = segs[i].addr,
				   .p_filesz = (segs[i].len + 4095) & ~(size_t)4095,
				   .p_memsz = (segs[i].len + 4095) & ~(size_t)4095,
				   .p_align = 4096 };
		ptc_buf_put(b, &ph, sizeof(ph));
		off += ph.p_filesz;
	}
	ptc_buf_put(b, notes.bytes, notes.len);
	ptc_buf_release(&notes);
	for (i = 0; i < nsegs; i++) {
		pad_to(b, (b->len + 4095) & ~(size_t)4095);
		ptc_buf_put(b, segs[i].bytes, segs[i].len);
	}
	pad_to(b, (b->len + 4095) & ~(size_t)4095);
	must(!ptc_buf_failed(b));
}

void le_jit(struct ptc_buf *b, uint32_t pid, uint64_t flags)
{
	ptc_buf_le32(b, 0x4a695444);
	ptc_buf_le32(b, 1);
	ptc_buf_le32(b, 40);
	ptc_buf_le32(b, EM_X86_64);
	ptc_buf_le32(b, 0);
	ptc_buf_le32(b, pid);
	ptc_buf_le64(b, 1);
	ptc_buf_le64(b, flags);
}

static void jit_prefix(struct ptc_buf *b, uint32_t id, size_t len, uint64_t time)
{
	ptc_buf_le32(b, id);
	ptc_buf_le32(b, (uint32_t)(16 + len));
	ptc_buf_le64(b, time);
}

void le_jit_load(struct ptc_buf *b, uint64_t time, uint64_t addr, uint64_t index, const char *name,
		 const void *code, size_t len)
{
	jit_prefix(b, 0, 40 + strlen(name) + 1 + len, time);
	ptc_buf_le32(b, 7);
	ptc_buf_le32(b, 7);
	ptc_buf_le64(b, addr);
	ptc_buf_le64(b, addr);
	ptc_buf_le64(b, len);
	ptc_buf_le64(b, index);
	ptc_buf_str(b, name, 1);
	ptc_buf_put(b, code, len);
}

void le_jit_move(struct ptc_buf *b, uint64_t time, uint64_t from, uint64_t to, uint64_t index,
		 size_t len)
{
	jit_prefix(b, 1, 48, time);
	ptc_buf_le32(b, 7);
	ptc_buf_le32(b, 7);
	ptc_buf_le64(b, to);
	ptc_buf_le64(b, from);
	ptc_buf_le64(b, to);
	ptc_buf_le64(b, len);
	ptc_buf_le64(b, index);
}

void le_jit_other(struct ptc_buf *b, uint32_t id, size_t len)
{
	jit_prefix(b, id, len, 0);
	ptc_buf_zero(b, len);
}

const char *le_write(const char *dir, const char *name, const struct ptc_buf *b)
{
	static char path[512];
	char *slash;
	int fd;

	must(snprintf(path, sizeof(path), "%s/%s", dir, name) < (int)sizeof(path));
	for (slash = path + strlen(dir) + 1; (slash = strchr(slash, '/')) != NULL; *slash++ = '/') {
		*slash = '\0';
		(void)mkdir(path, 0700);
	}
	(void)unlink(path);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	must(fd >= 0 && write(fd, b->bytes, b->len) == (ssize_t)b->len);
	close(fd);
	return path;
}

void le_folder(char *ret, size_t size)
{
	const char *tmp = getenv("TMPDIR");

	must(snprintf(ret, size, "%s/ptcap-test-XXXXXX", tmp && *tmp ? tmp : "/tmp") < (int)size);
	must(mkdtemp(ret) != NULL);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

void le_folder_remove(const char *dir)
{
	(void)nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}
