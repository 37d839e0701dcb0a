/* SPDX-License-Identifier: MIT */
#include "arch/disasm.h"

#include <Zydis/Zydis.h>
#include <stdio.h>

#include "arch/insn_unknown.h"

static const ZydisMachineMode modes[] = {
	[PTC_MODE_64] = ZYDIS_MACHINE_MODE_LONG_64,
	[PTC_MODE_32] = ZYDIS_MACHINE_MODE_LONG_COMPAT_32,
	[PTC_MODE_16] = ZYDIS_MACHINE_MODE_LONG_COMPAT_16,
};
static const ZydisStackWidth widths[] = {
	[PTC_MODE_64] = ZYDIS_STACK_WIDTH_64,
	[PTC_MODE_32] = ZYDIS_STACK_WIDTH_32,
	[PTC_MODE_16] = ZYDIS_STACK_WIDTH_16,
};

/* Same style as objdump -M intel: lower case, no leading zeros. */
static void set_style(ZydisFormatter *f)
{
	(void)ZydisFormatterInit(f, ZYDIS_FORMATTER_STYLE_INTEL);
	(void)ZydisFormatterSetProperty(f, ZYDIS_FORMATTER_PROP_HEX_UPPERCASE, 0);
	(void)ZydisFormatterSetProperty(f, ZYDIS_FORMATTER_PROP_ADDR_PADDING_ABSOLUTE,
					ZYDIS_PADDING_DISABLED);
	(void)ZydisFormatterSetProperty(f, ZYDIS_FORMATTER_PROP_DISP_PADDING,
					ZYDIS_PADDING_DISABLED);
	(void)ZydisFormatterSetProperty(f, ZYDIS_FORMATTER_PROP_IMM_PADDING,
					ZYDIS_PADDING_DISABLED);
}

void ptc_disasm(enum ptc_mode mode, const uint8_t *bytes, size_t len, uint64_t ip,
		char ret[PTC_DISASM_MAX])
{
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction in;
	ZydisFormatter formatter;
	ZydisDecoder decoder;

	(void)ZydisDecoderInit(&decoder, modes[mode], widths[mode]);
	set_style(&formatter);
	if (ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes, len, &in, operands)) &&
	    ZYAN_SUCCESS(ZydisFormatterFormatInstruction(&formatter, &in, operands,
							 in.operand_count_visible, ret,
							 PTC_DISASM_MAX, ip, NULL)))
		return;
	(void)snprintf(ret, PTC_DISASM_MAX, "%s",
		       len && ptc_insn_unknown_len(mode, bytes, len) == len ? "(unknown)" :
									      "(bad)");
}
