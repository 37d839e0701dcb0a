/* SPDX-License-Identifier: GPL-2.0 */
/* softpt: declarations for all files. Overview: softpt_unit.c. */
#ifndef SOFTPT_H
#define SOFTPT_H

#include "softaux.h"
#include <linux/perf_event.h>
#include <linux/user-return-notifier.h>

/* Bits of the config, as in RTIT_CTL. */
enum {
	CONFIG_PT = 0,
	CONFIG_MTC = 9,
	CONFIG_TSC = 10,
	CONFIG_BRANCH = 13,
	/* Fields of four bits each. */
	MTC_PERIOD = 14,
	CYC_THRESHOLD = 19,
	PSB_PERIOD = 24
};

/*
 * TSC ticks per tick of the crystal. Real crystals have about 90. A step takes thousands of times
 * as long as an instruction. So this crystal is slow, too: otherwise there would be more MTC
 * packets than steps.
 */
#define CRYSTAL_RATIO	   440
#define CRYSTAL_RATIO_TEXT "880:2"

/*
 * The AUX area. Memory that the core allocated in one piece is one region of the output table. Only
 * the end of a region can interrupt or stop the trace.
 */
struct buf {
	struct area area;
	u32 *first; /* per page: the first page of its region */
};

/* One per CPU, like the trace unit of a logical processor. */
struct unit {
	struct perf_output_handle handle;
	struct user_return_notifier urn;
	bool urn_on;
	bool on;      /* TraceEn: between start and stop */
	bool in_user; /* PacketEn: a TIP.PGE is open */
	bool stepped; /* this return to user mode began in on_debug() */
	bool halted;  /* reached a stop range; until the next start */
	bool full;    /* filled the STOP region; packets are dropped */
	u64 pos;      /* offset of the next byte; masked when used */
	u64 begin;    /* aux_head when perf last handed out space */
	u64 intr;     /* the interrupt is due from this offset on */
	u64 limit;    /* end of the STOP region: no byte goes here or beyond */
	unsigned int skid;
	struct task_struct *task; /* task of the next instruction */
	u64 ip;			  /* address of the next instruction */
	u8 insn[15];
	u8 len;	      /* number of its bytes in insn */
	u64 last_ip;  /* for IP compression */
	u8 tnt, ntnt; /* outcomes not yet written */
	u64 since_psb, psb_period;
	u64 mtc; /* MTC periods at the newest time packet */
};

#define NO_IP (1ull << 62) /* as last_ip: the next IP is not compressed */

/* softpt_packet.c */
enum { TIP = 0x0d, PGE = 0x11, PGD = 0x01, FUP = 0x1d };

void put(struct unit *u, const void *from, int n);
void put_outcome(struct unit *u, bool taken);
void put_tnt(struct unit *u);
void put_ip(struct unit *u, u8 op, u64 ip);
void put_tsc(struct unit *u);
void put_mtc(struct unit *u); /* if one is due */
void put_psb(struct unit *u);

/* softpt_buffer.c */
void *setup_aux(struct perf_event *event, void **pages, int n, bool snapshot);
void free_aux(void *aux);
int get_space(struct unit *u, struct perf_event *event);
void give_space(struct unit *u);
bool pmi_due(struct unit *u);

/* softpt_filter.c */
enum { RANGES = 2 };

int make_filters(struct perf_event *event);
int addr_filters_validate(struct list_head *filters);
void addr_filters_sync(struct perf_event *event);
bool stops_at(struct unit *u, u64 ip);
bool traces_at(struct unit *u, u64 ip);

/* softpt_kept.c */
int keep_init(const char *name);
void keep_exit(void);
void keep_bytes(const void *from, size_t n);
void keep_turn(pid_t tid); /* traced thread from here on; 0: none */

/* softpt_sysfs.c */
extern const struct attribute_group *softpt_groups[];

bool config_ok(u64 config); /* valid on a processor with these caps/ */

#endif
