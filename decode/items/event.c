/* SPDX-License-Identifier: MIT */
#include "decode/items/event.h"

#include <intel-pt.h>

static struct ptc_pt_event make_pt_event(const struct pt_event *ev, enum ptc_event_kind kind,
					 uint64_t ip, uint64_t value)
{
	return (struct ptc_pt_event){ .kind = kind,
				      .ip = ev->ip_suppressed ? 0 : ip,
				      .value = value };
}

static struct ptc_pt_event power_of(const struct pt_event *ev)
{
	switch (ev->type) {
	case ptev_mwait:
		return make_pt_event(ev, PTC_EVENT_MWAIT, ev->variant.mwait.ip,
				     ev->variant.mwait.hints | (uint64_t)ev->variant.mwait.ext
								       << 32);
	case ptev_pwre:
		return make_pt_event(ev, PTC_EVENT_PWRE, 0,
				     ev->variant.pwre.state |
					     (uint64_t)ev->variant.pwre.sub_state << 8 |
					     (uint64_t)ev->variant.pwre.hw << 16);
	case ptev_exstop:
		return make_pt_event(ev, PTC_EVENT_EXSTOP, ev->variant.exstop.ip, 0);
	case ptev_pwrx:
		return make_pt_event(ev, PTC_EVENT_PWRX, 0,
				     ev->variant.pwrx.last |
					     (uint64_t)ev->variant.pwrx.deepest << 8 |
					     (uint64_t)ev->variant.pwrx.interrupt << 16 |
					     (uint64_t)ev->variant.pwrx.store << 17 |
					     (uint64_t)ev->variant.pwrx.autonomous << 18);
	default:
		return make_pt_event(ev, PTC_EVENT_NONE, 0, 0);
	}
}

static enum ptc_event_kind tsx_kind(const struct pt_event *ev)
{
	if (ev->variant.tsx.aborted)
		return PTC_EVENT_TSX_ABORT;
	return ev->variant.tsx.speculative ? PTC_EVENT_TSX_BEGIN : PTC_EVENT_TSX_COMMIT;
}

struct ptc_pt_event ptc_pt_event_of(const struct pt_event *ev)
{
	switch (ev->type) {
	case ptev_enabled:
		return make_pt_event(ev, PTC_EVENT_ENABLED, ev->variant.enabled.ip, 0);
	case ptev_disabled: /* the branch has the source; this ip is the target */
		return make_pt_event(ev, PTC_EVENT_DISABLED, 0, 0);
	case ptev_async_disabled:
		return make_pt_event(ev, PTC_EVENT_DISABLED, ev->variant.async_disabled.at, 0);
	case ptev_overflow:
		return make_pt_event(ev, PTC_EVENT_OVERFLOW, ev->variant.overflow.ip, 0);
	case ptev_stop:
		return make_pt_event(ev, PTC_EVENT_STOP, 0, 0);
	case ptev_cbr:
		return make_pt_event(ev, PTC_EVENT_CBR, 0, ev->variant.cbr.ratio);
	case ptev_ptwrite:
		return make_pt_event(ev, PTC_EVENT_PTWRITE, ev->variant.ptwrite.ip,
				     ev->variant.ptwrite.payload);
	case ptev_tsx:
		return make_pt_event(ev, tsx_kind(ev), ev->variant.tsx.ip, 0);
	case ptev_paging:
		return make_pt_event(ev, PTC_EVENT_CR3, 0, ev->variant.paging.cr3);
	case ptev_async_paging:
		return make_pt_event(ev, PTC_EVENT_CR3, ev->variant.async_paging.ip,
				     ev->variant.async_paging.cr3);
	default:
		return power_of(ev);
	}
}
