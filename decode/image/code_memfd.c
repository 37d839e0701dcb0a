/* SPDX-License-Identifier: MIT */
#include "decode/image/code_memfd.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/budget.h"

enum { PAGE = 4096 };

void ptc_code_memfd_release(struct ptc_code_memfd *m)
{
	if (m->path[0])
		(void)close(m->fd);
	ptc_budget_drop(m->filled);
	memset(m, 0, sizeof(*m));
}

static void make_file(struct ptc_code_memfd *m)
{
	int fd;

	m->tried = true;
	fd = memfd_create("ptcap-code", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return;
	/* The full size at once, as a hole: libipt needs a file whose size does not change. */
	if (ftruncate(fd, (off_t)PTC_CODE_MEMFD_ROOM_MAX)) {
		(void)close(fd);
		return;
	}
	m->fd = fd;
	(void)snprintf(m->path, sizeof(m->path), "/proc/self/fd/%d", fd);
	/* libipt opens the file by this name. Without /proc there is no such name. */
	if (access(m->path, R_OK)) {
		(void)close(fd);
		m->path[0] = '\0';
	}
}

bool ptc_code_memfd_new(struct ptc_code_memfd *m, uint64_t len, struct ptc_codepiece *ret)
{
	const uint64_t room = (len + PAGE - 1) & ~(uint64_t)(PAGE - 1);
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
	bool in_file;
	void *p;

	if (!len || len > PTC_CODE_MEMFD_PIECE_MAX || room > PTC_CODE_MEMFD_ROOM_MAX - m->next)
		return false;
	if (!m->tried)
		make_file(m);
	in_file = m->path[0];
	if (in_file)
		flags = MAP_SHARED | MAP_NORESERVE;
	p = mmap(NULL, room, PROT_READ | PROT_WRITE, flags, in_file ? m->fd : -1,
		 in_file ? (off_t)m->next : 0);
	if (p == MAP_FAILED)
		return false;
	*ret = (struct ptc_codepiece){ .bytes = p, .len = (size_t)len };
	if (in_file) {
		ret->path = m->path;
		ret->off = m->next;
	}
	m->next += room;
	return true;
}

void ptc_codepiece_release(struct ptc_codepiece *p)
{
	if (p->bytes)
		(void)munmap(p->bytes, (p->len + PAGE - 1) & ~(size_t)(PAGE - 1));
	memset(p, 0, sizeof(*p));
}

static bool reserve_memfd_bytes(struct ptc_code_memfd *m, uint64_t len)
{
	if (len > PTC_CODE_MEMFD_MAX - m->filled || !ptc_budget_allows(len))
		return false;
	m->filled += len;
	ptc_budget_hold(len);
	return true;
}

/*
 * Copies in the kernel. A read into the mapping would fault at each page, and the kernel would fill
 * the page with zeros first. Returns how many bytes were copied: 0 if @fd is a file that sendfile
 * cannot read, for example kcore.
 */
static uint64_t send_bytes(const struct ptc_code_memfd *m, uint64_t at, uint64_t len, int fd,
			   uint64_t src)
{
	off_t from = (off_t)src;
	uint64_t done = 0;
	ssize_t r;

	if (lseek(m->fd, (off_t)at, SEEK_SET) < 0)
		return 0;
	while (done < len) {
		r = sendfile(m->fd, fd, &from, len - done);
		if (r <= 0)
			break;
		done += (uint64_t)r;
	}
	return done;
}

bool ptc_code_memfd_read(struct ptc_code_memfd *m, const struct ptc_codepiece *p, uint64_t off,
			 uint64_t len, int fd, uint64_t src)
{
	uint64_t sent;
	ssize_t r;

	if (!reserve_memfd_bytes(m, len))
		return false;
	sent = p->path ? send_bytes(m, p->off + off, len, fd, src) : 0;
	off += sent;
	src += sent;
	len -= sent;
	while (len) {
		r = pread(fd, p->bytes + off, len, (off_t)src);
		if (r < 0 && errno == EINTR)
			continue;
		if (r <= 0)
			return false;
		off += (uint64_t)r;
		src += (uint64_t)r;
		len -= (uint64_t)r;
	}
	return true;
}

bool ptc_code_memfd_put(struct ptc_code_memfd *m, const struct ptc_codepiece *p, uint64_t off,
			const uint8_t *bytes, size_t len)
{
	if (!reserve_memfd_bytes(m, len))
		return false;
	memcpy(p->bytes + off, bytes, len);
	return true;
}

void ptc_code_memfd_settle(const struct ptc_code_memfd *m)
{
	const struct timespec never[2] = { { 0, 0 }, { 0, 0 } };

	/*
	 * Filling through the mapping changes the modification time, by which libipt knows a file.
	 */
	if (m->path[0])
		(void)futimens(m->fd, never);
}
