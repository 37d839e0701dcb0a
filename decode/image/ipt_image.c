/* SPDX-License-Identifier: MIT */
#include "decode/image/ipt_image.h"

#include <intel-pt.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "decode/image/addrspace.h"
#include "decode/image/codefile.h"

/*
 * Sections in the cache stay mapped, with their decoded blocks, up to this many bytes. Without a
 * limit, libipt drops them whenever it changes sections.
 */
static const uint64_t CACHE_LIMIT = 1ull << 30;

enum { SECTIONS_MAX = 1 << 13 }; /* in a cache */

struct ptc_ipt_images {
	struct ptc_ipt_image slots[PTC_IPT_IMAGES];
	uint64_t serials, uses;
	unsigned int sections[PTC_MODES]; /* in the cache of each mode */
};

static int open_cache(struct ptc_ipt *ipt, enum ptc_mode mode, struct ptc_err *err)
{
	struct pt_image_section_cache *cache = pt_iscache_alloc(NULL);

	if (!cache || pt_iscache_set_limit(cache, CACHE_LIMIT) < 0) {
		pt_iscache_free(cache);
		return ptc_fail_mem(err);
	}
	pt_iscache_free(ipt->caches[mode]);
	ipt->caches[mode] = cache;
	ipt->images->sections[mode] = 0;
	return 0;
}

int ptc_ipt_init(struct ptc_ipt *ipt, const struct ptc_ipt_params *params, struct ptc_err *err)
{
	int i, r = 0;

	*ipt = (struct ptc_ipt){ .params = *params };
	ipt->images = calloc(1, sizeof(*ipt->images));
	if (!ipt->images)
		return ptc_fail_mem(err);
	for (i = 0; i < PTC_MODES && !r; i++)
		r = open_cache(ipt, (enum ptc_mode)i, err);
	return r;
}

static void drop_ipt_image(struct ptc_ipt *ipt, struct ptc_ipt_image *s)
{
	if (!s->image)
		return;
	pt_image_free(s->image);
	*s = (struct ptc_ipt_image){ .image = NULL };
	ipt->drops++;
}

void ptc_ipt_release(struct ptc_ipt *ipt)
{
	int i;

	for (i = 0; i < PTC_IPT_IMAGES && ipt->images; i++)
		drop_ipt_image(ipt, &ipt->images->slots[i]);
	for (i = 0; i < PTC_MODES; i++) {
		pt_iscache_free(ipt->caches[i]);
		ipt->caches[i] = NULL;
	}
	free(ipt->images);
	ipt->images = NULL;
}

struct pt_config ptc_ipt_config(const struct ptc_ipt *ipt, const uint8_t *bytes, size_t len)
{
	const struct ptc_ipt_params *p = &ipt->params;
	struct pt_config config;

	pt_config_init(&config);
	/* A decoder only reads. The type is not const, because the encoder has the same type. */
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
	const struct pt_config config = ptc_ipt_config(ipt, bytes, len);

	*ret = pt_blk_alloc_decoder(&config);
	return *ret ? 0 : ptc_fail_mem(err);
}

/*
 * Returns how much of @r libipt can read from a file: the length from the range's start; 0:
 * nothing. The callback reads the rest, all code of a file whose used pages are noted, and the end
 * of the range. An instruction at the end may continue in another range, which may change or be
 * missing.
 */
static uint64_t file_part(const struct ptc_range *r)
{
	const struct ptc_codefile *f = r->file;
	uint64_t len;

	if (!f || !f->piece.path || r->patched || f->used_pages)
		return 0;
	len = ptc_codefile_has(f, r->off, r->end - r->start);
	return len > PTC_INSN_MAX ? len - PTC_INSN_MAX : 0;
}

/* The callback has read @ip: libipt gets its range at the next occasion, if possible. */
static void want(struct ptc_ipt_image *s, uint64_t ip)
{
	const struct ptc_range *r;

	if (s->mode >= PTC_MODES || s->nwanted == PTC_IPT_WANTED)
		return;
	r = ptc_addrspace_find(s->as, ip);
	if (r && ip - r->start < file_part(r))
		s->wanted[s->nwanted++] = ip;
}

/* Callback for code. libipt decodes these bytes again each time: it caches only code from files. */
static int read_memory(uint8_t *buffer, size_t size, const struct pt_asid *asid, uint64_t ip,
		       void *context)
{
	struct ptc_ipt_image *s = context;
	const size_t n = ptc_addrspace_read(s->as, ip, buffer, size < 4096 ? size : 4096);

	(void)asid;
	if (n)
		want(s, ip);
	return n ? (int)n : -pte_nomap;
}

/* Give libipt the range that contains @ip. */
static int add_range(struct ptc_ipt *ipt, struct ptc_ipt_image *s, uint64_t ip)
{
	struct pt_image_section_cache *cache = ipt->caches[s->mode];
	const struct ptc_range *r = ptc_addrspace_find(s->as, ip);
	const uint64_t len = r ? file_part(r) : 0;
	int isid;

	if (!len)
		return 0;
	isid = pt_iscache_add_file(cache, r->file->piece.path, r->file->piece.off + r->off, len,
				   r->start);
	if (isid <= 0)
		return isid;
	if ((unsigned int)isid > ipt->images->sections[s->mode])
		ipt->images->sections[s->mode] = (unsigned int)isid;
	return pt_image_add_cached(s->image, cache, isid, NULL);
}

static int add_wanted(struct ptc_ipt *ipt, struct ptc_ipt_image *s, struct ptc_err *err)
{
	int r = 0;

	while (s->nwanted && r != -pte_nomem)
		r = add_range(ipt, s, s->wanted[--s->nwanted]);
	return r == -pte_nomem ? ptc_fail_mem(err) : 0;
}

/*
 * libipt searches for a section among all sections of its cache, and cannot number more than
 * 65,535. A full cache is released, with the images that refer to it.
 */
static int renew_cache(struct ptc_ipt *ipt, enum ptc_mode mode, struct ptc_err *err)
{
	int i;

	if (mode >= PTC_MODES || ipt->images->sections[mode] < SECTIONS_MAX)
		return 0;
	for (i = 0; i < PTC_IPT_IMAGES; i++)
		if (ipt->images->slots[i].image && ipt->images->slots[i].mode == mode)
			drop_ipt_image(ipt, &ipt->images->slots[i]);
	return open_cache(ipt, mode, err);
}

/* Returns the slot of the least recently used image, or an empty slot, for another image. */
static struct ptc_ipt_image *oldest_slot(struct ptc_ipt *ipt)
{
	struct ptc_ipt_image *s = ipt->images->slots, *oldest = s;

	for (; s < ipt->images->slots + PTC_IPT_IMAGES; s++)
		if (s->used < oldest->used)
			oldest = s;
	return oldest;
}

/* Returns the slot of @as for code of @mode. Drops an image of an earlier layout from it. */
static struct ptc_ipt_image *get_ipt_image_slot(struct ptc_ipt *ipt, struct ptc_addrspace *as,
						enum ptc_mode mode)
{
	struct ptc_ipt_images *all = ipt->images;
	struct ptc_ipt_key *key = &as->images[mode];
	struct ptc_ipt_image *s = &all->slots[key->slot];

	if (!key->serial || s->serial != key->serial)
		s = oldest_slot(ipt);
	else if (s->layout == ptc_addrspace_layout(as))
		return s;
	drop_ipt_image(ipt, s);
	*s = (struct ptc_ipt_image){
		.as = as, .serial = ++all->serials, .layout = ptc_addrspace_layout(as), .mode = mode
	};
	*key = (struct ptc_ipt_key){ s->serial, (unsigned int)(s - all->slots) };
	return s;
}

int ptc_ipt_image(struct ptc_ipt *ipt, struct ptc_addrspace *as, enum ptc_mode mode,
		  const struct ptc_ipt_image **ret, struct ptc_err *err)
{
	struct ptc_ipt_image *s;
	int r = renew_cache(ipt, mode, err);

	if (r < 0)
		return r;
	s = get_ipt_image_slot(ipt, as, mode);
	s->used = ++ipt->images->uses;
	if (!s->image) {
		s->image = pt_image_alloc(NULL);
		if (!s->image || pt_image_set_callback(s->image, read_memory, s) < 0)
			return ptc_fail_mem(err);
	}
	*ret = s;
	return add_wanted(ipt, s, err);
}

void ptc_ipt_forget_images(struct ptc_addrspace *as)
{
	memset(as->images, 0, sizeof(as->images));
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
		/* Also pte_nomem: libipt returns it for more events at a place than it can hold. */
		return PTC_GAP_DESYNC;
	}
}
