/* SPDX-License-Identifier: MIT */
/* Description: libipt's blocks are the same with its cache empty, full, and unused. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "decode/image/addrspace.h"
#include "decode/image/codefile.h"
#include "decode/libipt/ipt_block.h"
#include "lib_pt.h"

/* Code in a file, and libipt's cache of it. */
struct code {
	struct ptc_codefiles files;
	struct ptc_codefile *file;
	struct ptc_addrspace as;
	struct ptc_ipt ipt;
};

static void code_open(struct code *c)
{
	const struct ptc_ipt_params params = { .mtc_freq = 0 };
	const int fd = memfd_create("code", MFD_CLOEXEC);
	struct ptc_err err;

	*c = (struct code){ .files = { .n = 0 } };
	c->file = ptc_codefiles_new(&c->files, "code");
	cr_assert_eq(write(fd, pt_code, PT_CODE_LEN), PT_CODE_LEN);
	cr_assert(ptc_codefile_supply(c->file, PT_CODE_LEN, 0, PT_CODE_LEN, fd, 0));
	(void)close(fd);
	cr_assert(ptc_addrspace_map(&c->as, PT_CODE, PT_CODE_LEN, 0, c->file));
	cr_assert_eq(ptc_ipt_init(&c->ipt, &params, &err), 0);
}

static void code_release(struct code *c)
{
	ptc_addrspace_release(&c->as);
	ptc_codefiles_release(&c->files);
	ptc_ipt_release(&c->ipt);
}

/* libipt's function, or ours. */
typedef int next_block(struct pt_block_decoder *dec, struct pt_block *b, uint32_t *ret_insns);

static int libipts(struct pt_block_decoder *dec, struct pt_block *b, uint32_t *ret_insns)
{
	const int status = pt_blk_next(dec, b, sizeof(*b));

	*ret_insns = b->ninsn;
	return status;
}

static int joined(struct pt_block_decoder *dec, struct pt_block *b, uint32_t *ret_insns)
{
	const int status = ptc_ipt_next_block(dec, b, ret_insns, UINT32_MAX);

	cr_assert(!ptc_ipt_is_part(status, b, *ret_insns, UINT32_MAX));
	return status;
}

/* No block is joined, and a block that goes on is a part. */
static int in_parts(struct pt_block_decoder *dec, struct pt_block *b, uint32_t *ret_insns)
{
	const int status = ptc_ipt_next_block(dec, b, ret_insns, 1);

	if (status >= 0 && b->ninsn && !(status & pts_event_pending))
		cr_assert_eq(ptc_ipt_is_part(status, b, *ret_insns, 1), ptc_ipt_is_cut(b));
	return status;
}

/* Lists the blocks until the first error, as text. */
static void list(struct code *c, enum ptc_mode mode, const struct ptc_buf *trace, next_block *next,
		 char *text, size_t len)
{
	struct pt_block_decoder *dec;
	const struct ptc_ipt_image *image;
	struct pt_event ev;
	struct pt_block b;
	struct ptc_err err;
	uint32_t insns;
	size_t n = 0;
	int status;

	cr_assert_eq(ptc_ipt_decoder(&c->ipt, trace->bytes, trace->len, &dec, &err), 0);
	cr_assert_eq(ptc_ipt_image(&c->ipt, &c->as, mode, &image, &err), 0);
	(void)pt_blk_set_image(dec, image->image);
	text[0] = '\0';
	for (status = pt_blk_sync_forward(dec); status >= 0 && n < len;) {
		if (status & pts_event_pending) {
			status = pt_blk_event(dec, &ev, sizeof(ev));
			continue;
		}
		status = next(dec, &b, &insns);
		if (insns) /* for the PSB+ status libipt 2.1 has one without instructions */
			n += (size_t)snprintf(text + n, len - n, "%" PRIx64 " %" PRIx64 " %u; ",
					      b.ip, b.end_ip, insns);
	}
	cr_assert_lt(n, len);
	(void)snprintf(text + n, len - n, "%d", pt_errcode(status));
	pt_blk_free_decoder(dec);
}

/* Gives libipt the code of the file, without blocks that the other tests use. */
static void code_tell(struct code *c)
{
	struct ptc_buf b = PTC_BUF_INIT;
	const struct ptc_ipt_image *image;
	struct ptc_err err;
	char text[200];

	pt_psb_off(&b);
	pt_enable(&b, 0x1000);
	pt_tnt(&b, "N");
	list(c, PTC_MODE_64, &b, joined, text, sizeof(text));
	cr_assert_eq(ptc_ipt_image(&c->ipt, &c->as, PTC_MODE_64, &image, &err), 0);
	cr_assert_eq(image->nwanted, 0);
	ptc_buf_release(&b);
}

/* The trace leads to the second instruction of a block, and then to the first. */
static void put_halves(struct ptc_buf *b)
{
	pt_psb_off(b);
	pt_enable(b, 0x1025);
	pt_ip(b, PT_TIP, 0x1024); /* ret */
	pt_ip(b, PT_TIP, 0x1024); /* nop, ret */
	pt_tnt(b, "N");		  /* not used by a return */
}

Test(ipt_block, one_whose_second_half_is_known_is_one_all_the_same)
{
	char empty[200], full[200], none[200], own[200];
	struct ptc_buf b = PTC_BUF_INIT;
	struct code c;

	put_halves(&b);
	code_open(&c);
	code_tell(&c);
	list(&c, PTC_MODE_64, &b, joined, empty, sizeof(empty));
	list(&c, PTC_MODE_64, &b, joined, full, sizeof(full));
	list(&c, PTC_MODES, &b, joined, none, sizeof(none));
	list(&c, PTC_MODE_64, &b, libipts, own, sizeof(own));
	cr_expect_str_eq(own, empty);
	code_release(&c);
	code_open(&c);
	code_tell(&c);
	list(&c, PTC_MODE_64, &b, libipts, own, sizeof(own));
	code_release(&c);
	cr_expect_str_eq(empty, "1025 1025 1; 1024 1025 2; 1024 1025 2; 21");
	cr_expect_str_eq(full, empty);
	cr_expect_str_eq(none, empty);
	cr_expect_str_neq(own, empty, "libipt does not need this any more");
	ptc_buf_release(&b);
}

Test(ipt_block, one_that_has_enough_is_not_joined)
{
	char parts[200], own[200];
	struct ptc_buf b = PTC_BUF_INIT;
	struct code c;

	put_halves(&b);
	code_open(&c);
	list(&c, PTC_MODE_64, &b, in_parts, parts, sizeof(parts));
	code_release(&c);
	code_open(&c);
	list(&c, PTC_MODE_64, &b, libipts, own, sizeof(own));
	code_release(&c);
	cr_expect_str_eq(parts, own);
	ptc_buf_release(&b);
}

/* The code is in two ranges, and the second begins in the middle of an instruction. */
Test(ipt_block, an_instruction_whose_end_is_gone_is_none_though_it_is_known)
{
	char whole[200], gone[200], none[200];
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_codefile *nothing;
	struct code c;

	pt_psb_off(&b);
	pt_enable(&b, 0x102f);
	pt_tnt(&b, "N");
	pt_tnt(&b, "N");
	code_open(&c);
	nothing = ptc_codefiles_new(&c.files, "nothing");
	cr_assert(ptc_addrspace_map(&c.as, 0x1000, 0x35, 0, c.file));
	cr_assert(ptc_addrspace_map(&c.as, 0x1035, 4, 0x35, c.file));
	list(&c, PTC_MODE_64, &b, joined, whole, sizeof(whole));
	cr_assert(ptc_addrspace_map(&c.as, 0x1035, 4, 0, nothing));
	list(&c, PTC_MODE_64, &b, joined, gone, sizeof(gone));
	list(&c, PTC_MODES, &b, joined, none, sizeof(none));
	/* The end of the trace; libipt 2.1 reports a missing bit. */
	cr_expect_str_eq(
		whole,
		PT_BY_LIBIPT("102f 1031 2; 1033 1033 1; 102f 1031 2; 1033 1033 1; 102f 1031 2; 7",
			     "102f 1031 2; 1033 1033 1; 102f 1031 2; 1033 1033 1; 102f 1031 2; 8"));
	cr_expect_str_eq(gone, none);
	code_release(&c);
	ptc_buf_release(&b);
}
