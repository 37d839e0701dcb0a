/* SPDX-License-Identifier: MIT */
/*
 * Looks up what an item of a decode is about: its thread, inlined functions, instructions, and the
 * layout of files. ptcap/decode.h has the lookup of symbols, files and source lines.
 */
#ifndef PTCAP_LOOKUP_H
#define PTCAP_LOOKUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptcap/error.h"
#include "ptcap/record.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ptc_decode;
struct ptc_file;
struct ptc_item;

enum {
	PTC_INLINE_MAX = 64,	  /* limit: functions at an address, with the real one */
	PTC_THREAD_NAME_MAX = 16, /* the kernel's TASK_COMM_LEN: a name with its end */
};

/* A function at an address, and the line of it. */
struct ptc_inline_frame {
	const char *function; /* as in the source, or mangled on request; NULL: not known */
	const char *file;     /* as named by the compiler; NULL: not known */
	int line;	      /* 0: not known */
	uint64_t scope;	      /* the same for the same inlined call; unique in the file; never 0 */
};

/*
 * Finds the functions at @ip in the process of @item, the innermost first: inlined functions, and
 * last the real function. The first function is at the line of @ip, each other function at the line
 * of the call that was inlined. Returns their number. 0: not known. 1: nothing is inlined there.
 * Names are lent until ptc_decode_free. To be called inside on_items.
 */
PTC_API size_t ptc_decode_inlines(struct ptc_decode *d, const struct ptc_item *item, uint64_t ip,
				  struct ptc_inline_frame frames[PTC_INLINE_MAX]);

/*
 * Returns the folder in which the compiler ran for the code at @ip: the name that
 * ptc_decode_srcline returns may be relative to this folder. Lent until ptc_decode_free. NULL: not
 * known.
 */
PTC_API const char *ptc_decode_source_folder(struct ptc_decode *d, const struct ptc_item *item,
					     uint64_t ip);

/*
 * Gets the build-id of the file at @ip in the process of @item, as recorded. Returns false, and
 * does not change *@ret, if no file is there or its build-id is not known. To be called inside
 * on_items.
 */
PTC_API bool ptc_decode_file_id(const struct ptc_decode *d, const struct ptc_item *item,
				uint64_t ip, struct ptc_build_id *ret);

/*
 * Returns the name of thread @tid as of the sideband records applied so far. NULL: not known. Lent
 * until the next item.
 */
PTC_API const char *ptc_decode_thread_name(const struct ptc_decode *d, int32_t tid);

/*
 * Returns the software source of ptcap that recorded @f: "emu" or "step", static. NULL: another
 * recorder, or hardware made the trace.
 */
PTC_API const char *ptc_file_software_source(const struct ptc_file *f);

/*
 * Returns whether a software source of ptcap recorded. Its times are no measure of a program. False
 * if that is not known.
 */
PTC_API bool ptc_decode_is_of_software(const struct ptc_decode *d);

/* Returns the recording that @d decodes, lent until ptc_decode_free. NULL: a bare trace. */
PTC_API const struct ptc_file *ptc_decode_recording(const struct ptc_decode *d);

/*
 * Call @on_insn with @ctx for each instruction from @start to @end in the process of @item, in
 * order, with its address. @end: the last instruction, or if @open the address behind it. Stops
 * when @on_insn returns non-zero, and returns that value. Otherwise returns 0, also if the code is
 * not known or does not lead to @end. To be called inside on_items.
 */
PTC_API int ptc_decode_each_insn(const struct ptc_decode *d, const struct ptc_item *item,
				 uint64_t start, uint64_t end, bool open,
				 int (*on_insn)(void *ctx, uint64_t ip), void *ctx);

/* A loop of code that Intel PT cannot show: it has direct jumps and calls only. */
struct ptc_silent_loop {
	uint64_t ip;  /* an instruction in the loop */
	size_t insns; /* per iteration; 0: there is no loop */
	bool calls;   /* the loop contains calls: each iteration uses stack */
};

/* Find the loop that @ip leads into, in the code that process @pid of @d has mapped now. */
PTC_API struct ptc_silent_loop ptc_silent_loop_behind(const struct ptc_decode *d, int32_t pid,
						      uint64_t ip);

/*
 * Returns the symbol @name as in its source: with parameters, without the return type. Knows names
 * of C++, Rust and D. A suffix behind @ ("@plt", a version) is kept. "@@VERSION" is dropped,
 * because the plain name means this version, too. Caller frees the result. NULL: @name needs no
 * change, or out of memory.
 */
PTC_API char *ptc_demangle(const char *name);

/*
 * Returns whether the function @name, demangled or not, is meant by @wanted, which may lack the
 * parameters.
 */
PTC_API bool ptc_is_function_name(const char *wanted, const char *name);

/*
 * Call @on_name with @ctx for each function name in the symbol tables that @d has read so far,
 * demangled unless opts.mangled. Demangling ends after 200,000 names. Some names come more than
 * once, in no order. Stops when @on_name returns non-zero, and returns that value. Otherwise
 * returns 0.
 */
PTC_API int ptc_decode_each_function(const struct ptc_decode *d,
				     int (*on_name)(void *ctx, const char *name), void *ctx);

/*
 * The layout of a program or library: from offsets in its file to virtual addresses, where they
 * begin, and which addresses are in a PLT.
 */
struct ptc_elf_layout;

/*
 * Get the layout of the file from which the code of the recorded file @name came. The caller owns
 * *@ret. PTC_E_NOT_EXIST: the code came from no file, or from several builds of this file, or the
 * file has changed since. PTC_E_FORMAT, PTC_E_NO_MEMORY.
 */
PTC_API int ptc_decode_layout(const struct ptc_decode *d, const char *name,
			      struct ptc_elf_layout **ret, struct ptc_err *err);
/* @l may be NULL. */
PTC_API void ptc_elf_layout_free(struct ptc_elf_layout *l);

/* Gets the virtual address of the code at file offset @off. Returns false if no segment has it. */
PTC_API bool ptc_elf_layout_address(const struct ptc_elf_layout *l, uint64_t off, uint64_t *ret);

/* Returns whether the virtual address @addr is in a section .plt, .plt.got or .plt.sec. */
PTC_API bool ptc_elf_layout_is_plt(const struct ptc_elf_layout *l, uint64_t addr);

/* Returns the virtual address where the file begins, according to its first segment. */
PTC_API uint64_t ptc_elf_layout_file_base(const struct ptc_elf_layout *l);
/* Returns the page where the first executable segment begins. */
PTC_API uint64_t ptc_elf_layout_code_base(const struct ptc_elf_layout *l);

#ifdef __cplusplus
}
#endif
#endif
