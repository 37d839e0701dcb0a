/* SPDX-License-Identifier: MIT */
#include "decode/ipt.h"

#include <intel-pt.h>

#include "base/err.h"
#include "decode/addrspace.h"
#include "decode/codefile.h"
#include "decode/ipt_track.h"

/*
 * Sections in the cache stay mapped, with their decoded blocks, up to this
 * many bytes; without a limit libipt drops them whenever it changes sections.
 */
static const uint64_t CACHE_LIMIT = 1ull << 30;

int ptc_ipt_init(struct ptc_ipt *ipt, const struct ptc_ipt_params *params, struct ptc_err *err)
{
	int i;

	ipt->params = *params;
	for (i = 0; i < PTC_MODES; i++) {
		ipt->caches[i] = pt_iscache_alloc(NULL);
		if (!ipt->caches[i] || pt_iscache_set_limit(ipt->caches[i], CACHE_LIMIT) < 0)
			return ptc_fail_mem(err);
	}
	return 0;
}

void ptc_ipt_release(struct ptc_ipt *ipt)
{
	int i;

	for (i = 0; i < PTC_MODES; i++) {
		pt_iscache_free(ipt->caches[i]);
		ipt->caches[i] = NULL;
	}
}

static struct pt_config config_of(const struct ptc_ipt *ipt, const uint8_t *bytes, size_t len)
{
	const struct ptc_ipt_params *p = &ipt->params;
	struct pt_config config;

	pt_config_init(&config);
	/* A decoder only reads; the type is shared with the encoder. */
	config.begin = (uint8_t *)(uintptr_t)bytes;
	config.end = config.begin + len;
	config.mtc_freq = p->mtc_freq;
	config.nom_freq = p->nom_freq;
	config.cpuid_0x15_eax = p->tsc_ctc_d;
	config.cpuid_0x15_ebx = p->tsc_ctc_n;
	config.flags.variant.block.end_on_call = 1;
	config.flags.variant.block.end_on_jump = 1;
	if (p->cpu.family) {
		config.cpu = (struct pt_cpu){ .vendor = pcv_intel,
					      .family = p->cpu.family,
					      .model = p->cpu.model,
					      .stepping = p->cpu.stepping };
		/* A CPU that libipt does not know has no errata that libipt knows. */
		(void)pt_cpu_errata(&config.errata, &config.cpu);
	}
	return config;
}

int ptc_ipt_decoder(const struct ptc_ipt *ipt, const uint8_t *bytes, size_t len,
		    struct pt_block_decoder **ret, struct ptc_err *err)
{
	const struct pt_config config = config_of(ipt, bytes, len);

	*ret = pt_blk_alloc_decoder(&config);
	return *ret ? 0 : ptc_fail_mem(err);
}

int ptc_ipt_track(const struct ptc_ipt *ipt, const uint8_t *bytes, size_t len,
		  struct ptc_ipt_track *t, struct ptc_err *err)
{
	const struct pt_config config = config_of(ipt, bytes, len);

	return ptc_ipt_track_init(t, &config, err);
}

/* What it gives is decoded anew each time: libipt caches only what it knows to be in files. */
static int read_memory(uint8_t *buffer, size_t size, const struct pt_asid *asid, uint64_t ip,
		       void *context)
{
	const size_t n = ptc_addrspace_read(context, ip, buffer, size < 4096 ? size : 4096);

	(void)asid;
	return n ? (int)n : -pte_nomap;
}

/*
 * What of a range libipt can have from a file. The rest is for the callback, and so is the end of
 * it: an instruction there may go on in another range, which is not always the same, or there.
 */
static int add_range(struct pt_image_section_cache *cache, const struct ptc_range *r,
		     struct pt_image *image)
{
	const struct ptc_codefile *f = r->file;
	uint64_t len;
	int isid;

	if (!f || !f->piece.path || r->patched)
		return 0;
	len = ptc_codefile_has(f, r->off, r->end - r->start);
	if (len <= PTC_INSN_MAX)
		return 0;
	isid = pt_iscache_add_file(cache, f->piece.path, f->piece.off + r->off, len - PTC_INSN_MAX,
				   r->start);
	return isid > 0 ? pt_image_add_cached(image, cache, isid, NULL) : isid;
}

static bool add_ranges(struct pt_image_section_cache *cache, const struct ptc_addrspace *as,
		       struct pt_image *image)
{
	const struct ptc_range *r = ptc_ranges_from(&as->ranges, 0);

	for (; r; r = ptc_ranges_next(&as->ranges, r))
		if (add_range(cache, r, image) == -pte_nomem)
			return false;
	return true;
}

/* @cache NULL: all by the callback. */
static int fill_image(struct pt_image_section_cache *cache, struct ptc_addrspace *as,
		      struct pt_image *image, struct ptc_err *err)
{
	if (cache && ((as->kernel && !add_ranges(cache, as->kernel, image)) ||
		      !add_ranges(cache, as, image)))
		return ptc_fail_mem(err);
	if (pt_image_set_callback(image, read_memory, as) < 0)
		return ptc_fail_mem(err);
	return 0;
}

int ptc_ipt_image(const struct ptc_ipt *ipt, struct ptc_addrspace *as, enum ptc_mode mode,
		  struct pt_image **ret, struct ptc_err *err)
{
	struct pt_image *image;
	int r;

	if (!as->images[mode] || as->image_layouts[mode] != ptc_addrspace_layout(as)) {
		image = pt_image_alloc(NULL);
		if (!image)
			return ptc_fail_mem(err);
		r = fill_image(mode < PTC_MODES ? ipt->caches[mode] : NULL, as, image, err);
		if (r < 0) {
			pt_image_free(image);
			return r;
		}
		pt_image_free(as->images[mode]);
		as->images[mode] = image;
		as->image_layouts[mode] = ptc_addrspace_layout(as);
	}
	*ret = as->images[mode];
	return 0;
}

void ptc_ipt_drop_images(struct ptc_addrspace *as)
{
	int i;

	for (i = 0; i <= PTC_MODES; i++) {
		pt_image_free(as->images[i]);
		as->images[i] = NULL;
	}
}

enum ptc_gap_cause ptc_ipt_cause(int status)
{
	switch (pt_errcode(status)) {
	case pte_nomap:
	case pte_bad_image:
	case pte_bad_file:
		return PTC_GAP_NOCODE;
	case pte_bad_opc:
	case pte_bad_packet:
		return PTC_GAP_BADPACKET;
	default:
		/* pte_nomem too: it is what libipt says of more events at a place than it can hold.
		 */
		return PTC_GAP_DESYNC;
	}
}
