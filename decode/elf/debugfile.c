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
