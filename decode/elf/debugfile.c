/* SPDX-License-Identifier: MIT */
#include "decode/elf/debugfile.h"

#include <gelf.h>
#include <string.h>

#include "base/cursor.h"
#include "decode/elf/decompress.h"
#include "decode/elf/elf_memory.h"
#include "decode/elf/omitted_data.h"

static Elf_Data *section(Elf *elf, const char *wanted)
{
	Elf_Scn *scn = NULL;
	const char *name;
	GElf_Shdr sh;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return NULL;
	while ((scn = elf_nextscn(elf, scn)) != NULL) {
		name = gelf_getshdr(scn, &sh) ? elf_strptr(elf, names, sh.sh_name) : NULL;
		if (name && !strcmp(name, wanted) && sh.sh_type != SHT_NOBITS)
			return ptc_elf_memory_data(scn);
	}
	return NULL;
}

/* The section has a name with its NUL, padded to 4 bytes, and a CRC. */
void ptc_debugfile_link(Elf *elf, struct ptc_debuglink *ret)
{
	Elf_Data *data = section(elf, ".gnu_debuglink");
	size_t len;

	*ret = (struct ptc_debuglink){ .crc = 0 };
	if (!data || !data->d_buf)
		return;
	len = strnlen(data->d_buf, data->d_size);
	if (len >= sizeof(ret->name) || (len / 4 + 1) * 4 + 4 > data->d_size)
		return;
	memcpy(ret->name, data->d_buf, len);
	ret->crc = ptc_le32((const uint8_t *)data->d_buf + (len / 4 + 1) * 4);
}

/* Returns the open file @fd, or NULL. */
static Elf *begin_file(int fd, const char *name)
{
	if (elf_version(EV_CURRENT) == EV_NONE ||
	    !ptc_elf_memory_has(fd, PTC_ELF_MEMORY_NAMES, name, NULL))
		return NULL;
	return elf_begin(fd, ELF_C_READ, NULL);
}

void ptc_debugfile_link_fd(int fd, const char *name, struct ptc_debuglink *ret)
{
	Elf *elf = begin_file(fd, name);

	*ret = (struct ptc_debuglink){ .crc = 0 };
	if (elf)
		ptc_debugfile_link(elf, ret);
	(void)elf_end(elf);
}

/* The section has a name with its NUL, and a build-id. */
static bool parse_alternate(const Elf_Data *data, struct ptc_alternate_link *ret)
{
	size_t len, id;

	if (!data || !data->d_buf)
		return false;
	len = strnlen(data->d_buf, data->d_size);
	if (len >= sizeof(ret->name) || len + 1 >= data->d_size)
		return false;
	id = data->d_size - len - 1;
	if (id > sizeof(ret->id.bytes))
		return false;
	memcpy(ret->name, data->d_buf, len);
	ret->name[len] = '\0';
	memcpy(ret->id.bytes, (const uint8_t *)data->d_buf + len + 1, id);
	ret->id.len = (uint8_t)id;
	return true;
}

bool ptc_debugfile_alternate(int fd, const char *name, struct ptc_alternate_link *ret)
{
	Elf *elf = begin_file(fd, name);
	const bool found = elf && parse_alternate(section(elf, ".gnu_debugaltlink"), ret);

	(void)elf_end(elf);
	return found;
}

bool ptc_debugfile_mini(Elf *elf, const char *file, struct ptc_omitted_data *left,
			struct ptc_unpacked *ret)
{
	Elf_Data *data = section(elf, ".gnu_debugdata");

	if (!data || !data->d_buf)
		return false;
	if (ptc_unpack_bytes(data->d_buf, data->d_size, ret))
		return true;
	if (ret->too_large)
		ptc_omitted_data_add(left, file, "packed names (.gnu_debugdata)", 0);
	return false;
}
