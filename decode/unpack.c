/* SPDX-License-Identifier: MIT */
#include "decode/unpack.h"

#include <elfutils/libdwelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

#include "base/buf.h"
#include "base/io.h"

struct magic {
	uint8_t len, bytes[6];
};

static const struct magic zstd = { 4, { 0x28, 0xb5, 0x2f, 0xfd } };
static const struct magic others[] = {
	{ 2, { 0x1f, 0x8b } },
	{ 6, { 0xfd, '7', 'z', 'X', 'Z', 0 } },
	{ 3, { 'B', 'Z', 'h' } },
};

static bool begins(int fd, const struct magic *m)
{
	uint8_t b[sizeof(m->bytes)];

	return pread(fd, b, sizeof(b), 0) == (ssize_t)sizeof(b) && !memcmp(b, m->bytes, m->len);
}

bool ptc_is_packed(int fd)
{
	size_t i;

	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (begins(fd, &others[i]))
			return true;
	return begins(fd, &zstd);
}

/* Bytes as a file that nobody else has. */
static int in_memory(const void *bytes, size_t len)
{
	const int fd = memfd_create("ptcap-unpacked", MFD_CLOEXEC);
	struct ptc_err err;

	/* zlib reads on from where the file is. */
	if (fd >= 0 && !ptc_write_all(fd, bytes, len, "memory", &err) && !lseek(fd, 0, SEEK_SET))
		return fd;
	if (fd >= 0)
		(void)close(fd);
	return -1;
}

/* All of @fd; NULL: not all there, too large, or no memory. */
static uint8_t *read_all(int fd, uint64_t len)
{
	uint8_t *bytes = len && len <= PTC_PACKED_MAX ? malloc(len) : NULL;

	if (bytes && pread(fd, bytes, len, 0) == (ssize_t)len)
		return bytes;
	free(bytes);
	return NULL;
}

/* One frame, or several, up to the end of @in. False: damaged, cut, too large, or no memory. */
static bool inflate(ZSTD_DStream *z, ZSTD_inBuffer in, struct ptc_buf *ret)
{
	const size_t piece = ZSTD_DStreamOutSize();
	uint8_t *out = malloc(piece);
	size_t left = out ? 1 : 0;

	while (out && left && ret->len <= PTC_UNPACKED_MAX) {
		ZSTD_outBuffer to = { out, piece, 0 };

		left = ZSTD_decompressStream(z, &to, &in);
		if (ZSTD_isError(left) || (!to.pos && in.pos == in.size))
			break;
		ptc_buf_put(ret, out, to.pos);
		left += in.size - in.pos; /* another frame */
	}
	free(out);
	return out && !left && !ptc_buf_failed(ret);
}

/* libdw is not always built with zstd; we are. */
static int unpack_zstd(int fd, uint64_t len, uint64_t *ret_len)
{
	uint8_t *bytes = read_all(fd, len);
	ZSTD_DStream *z = bytes ? ZSTD_createDStream() : NULL;
	struct ptc_buf b = PTC_BUF_INIT;
	int ret = -1;

	if (z && inflate(z, (ZSTD_inBuffer){ bytes, len, 0 }, &b))
		ret = in_memory(b.bytes, b.len);
	*ret_len = b.len;
	(void)ZSTD_freeDStream(z);
	ptc_buf_release(&b);
	free(bytes);
	return ret;
}

/* libdw maps what it unpacks: of a file that is cut meanwhile that would be SIGBUS. */
static int copy_of(int fd, uint64_t len)
{
	uint8_t *bytes = read_all(fd, len);
	const int ret = bytes ? in_memory(bytes, len) : -1;

	free(bytes);
	return ret;
}

static int unpack_other(int fd, uint64_t len, uint64_t *ret_len)
{
	const int copy = elf_version(EV_CURRENT) == EV_NONE ? -1 : copy_of(fd, len);
	Elf *elf = copy < 0 ? NULL : dwelf_elf_begin(copy);
	const char *image = NULL;
	int ret = -1;
	size_t n = 0;

	if (elf && elf_kind(elf) == ELF_K_ELF)
		image = elf_rawfile(elf, &n);
	if (image)
		ret = in_memory(image, n);
	*ret_len = n;
	(void)elf_end(elf);
	if (copy >= 0)
		(void)close(copy);
	return ret;
}

int ptc_unpack(int fd, uint64_t len, uint64_t *ret_len)
{
	return begins(fd, &zstd) ? unpack_zstd(fd, len, ret_len) : unpack_other(fd, len, ret_len);
}
