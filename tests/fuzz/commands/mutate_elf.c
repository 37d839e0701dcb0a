/* SPDX-License-Identifier: MIT */
/*
 * ELF files: changes numbers in headers and in the tables of sections and segments, and DWARF
 * bytes.
 */
#include <elf.h>
#include <string.h>

#include "../fuzz.h"
#include "mutate.h"

struct span {
	size_t off, len;
};

/* Returns the part of [off, off + len) that is in @b. */
static struct span clip(const struct ptc_buf *b, uint64_t off, uint64_t len)
{
	struct span s = { .off = off < b->len ? (size_t)off : b->len };

	s.len = len < b->len - s.off ? (size_t)len : b->len - s.off;
	return s;
}

/* Returns a random entry of a table with @n entries of @size bytes. */
static struct span pick(struct mu_random *r, const struct ptc_buf *b, uint64_t off, size_t n,
			size_t size)
{
	const struct span all = clip(b, off, (uint64_t)n * size);

	if (all.len < size)
		return (struct span){ .len = 0 };
	return (struct span){ all.off + mu_below(r, all.len / size) * size, size };
}

static struct span pick_section(struct mu_random *r, const struct ptc_buf *b, const Elf64_Ehdr *eh)
{
	const struct span entry = pick(r, b, eh->e_shoff, eh->e_shnum, sizeof(Elf64_Shdr));
	Elf64_Shdr sh;

	if (!entry.len)
		return entry;
	memcpy(&sh, b->bytes + entry.off, sizeof(sh));
	return sh.sh_type == SHT_NOBITS ? (struct span){ .len = 0 } :
					  clip(b, sh.sh_offset, sh.sh_size);
}

static struct span pick_segment(struct mu_random *r, const struct ptc_buf *b, const Elf64_Ehdr *eh)
{
	const struct span entry = pick(r, b, eh->e_phoff, eh->e_phnum, sizeof(Elf64_Phdr));
	Elf64_Phdr ph;

	if (!entry.len)
		return entry;
	memcpy(&ph, b->bytes + entry.off, sizeof(ph));
	return clip(b, ph.p_offset, ph.p_filesz);
}

/*
 * Changes bytes somewhere in @s; two of three times near its beginning, where tables have their
 * headers.
 */
static void change(struct mu_random *r, struct ptc_buf *b, struct span s)
{
	enum { NEAR = 64 };

	if (!s.len)
		return;
	if (s.len > NEAR && mu_once_in(r, 3))
		s.len = NEAR;
	if (mu_once_in(r, 3))
		mu_set_number(r, b, s.off, s.len);
	else if (mu_once_in(r, 2))
		b->bytes[s.off + mu_below(r, s.len)] = (uint8_t)mu_number(r, 1);
	else if (s.len > 32)
		(void)memmove(b->bytes + s.off + mu_below(r, s.len - 32),
			      b->bytes + s.off + mu_below(r, s.len - 32), 1 + mu_below(r, 32));
	else
		b->bytes[s.off + mu_below(r, s.len)] ^= (uint8_t)(1u << mu_below(r, 8));
}

void mu_elf(struct mu_random *r, struct ptc_buf *b)
{
	Elf64_Ehdr eh;
	struct span s;

	if (b->len < sizeof(eh) || memcmp(b->bytes, ELFMAG, SELFMAG) != 0) {
		mu_bytes(b, 0, b->len);
		return;
	}
	memcpy(&eh, b->bytes, sizeof(eh));
	switch (mu_below(r, 12)) {
	case 0:
		mu_set_number(r, b, EI_NIDENT, sizeof(eh) - EI_NIDENT);
		break;
	case 1:
		s = pick(r, b, eh.e_phoff, eh.e_phnum, sizeof(Elf64_Phdr));
		mu_set_number(r, b, s.off, s.len);
		break;
	case 2:
	case 3:
		s = pick(r, b, eh.e_shoff, eh.e_shnum, sizeof(Elf64_Shdr));
		mu_set_number(r, b, s.off, s.len);
		break;
	case 4:
		change(r, b, pick_segment(r, b, &eh));
		break;
	case 5:
		if (mu_once_in(r, 4))
			b->len -= mu_below(r, b->len);
		else
			mu_bytes(b, 0, b->len);
		break;
	default:
		change(r, b, pick_section(r, b, &eh));
		break;
	}
}
