/* SPDX-License-Identifier: MIT */
#include "arch/operand.h"

#include <Zydis/Zydis.h>
#include <assert.h>
#include <string.h>

static_assert((int)PTC_OPERANDS_MAX == (int)ZYDIS_MAX_OPERAND_COUNT, "there are no more");

/* In the order of Zydis' 64-bit registers, from RAX on. */
static const uint8_t gprs[] = { PTC_REG_RAX, PTC_REG_RCX, PTC_REG_RDX, PTC_REG_RBX,
				PTC_REG_RSP, PTC_REG_RBP, PTC_REG_RSI, PTC_REG_RDI,
				PTC_REG_R8,  PTC_REG_R9,  PTC_REG_R10, PTC_REG_R11,
				PTC_REG_R12, PTC_REG_R13, PTC_REG_R14, PTC_REG_R15 };

/* Returns the PTC_REG_* that is or contains @reg; PTC_REG_COUNT: none. */
static size_t reg_of(ZydisRegister reg)
{
	const ZydisRegister whole =
		ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);

	if (whole < ZYDIS_REGISTER_RAX || whole > ZYDIS_REGISTER_R15)
		return PTC_REG_COUNT;
	return gprs[whole - ZYDIS_REGISTER_RAX];
}

static uint64_t segment_base(ZydisRegister segment, const uint64_t regs[PTC_REG_COUNT])
{
	return segment == ZYDIS_REGISTER_FS ? regs[PTC_REG_FS_BASE] :
	       segment == ZYDIS_REGISTER_GS ? regs[PTC_REG_GS_BASE] :
					      0;
}

static uint64_t value_of(ZydisRegister reg, uint32_t size, uint64_t whole)
{
	if (reg >= ZYDIS_REGISTER_AH && reg <= ZYDIS_REGISTER_BH)
		return whole >> 8 & 0xff;
	return size < 8 ? whole & ((UINT64_C(1) << size * 8) - 1) : whole;
}

/* A push or a call stores below the current stack pointer. */
static bool stores_below(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op)
{
	return op->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN &&
	       (op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) &&
	       (in->meta.category == ZYDIS_CATEGORY_PUSH ||
		in->meta.category == ZYDIS_CATEGORY_CALL);
}

static bool evaluate_operand(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op,
			     uint64_t ip, const uint64_t regs[PTC_REG_COUNT],
			     struct ptc_operand *ret)
{
	ZydisRegisterContext context;
	ZyanU64 addr;
	size_t i, reg;

	*ret = (struct ptc_operand){
		.memory = op->type == ZYDIS_OPERAND_TYPE_MEMORY,
		.reads = (op->actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0,
		.writes = (op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0,
		.hidden = op->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN,
		.size = op->size / 8,
	};
	if (op->type == ZYDIS_OPERAND_TYPE_REGISTER) {
		reg = reg_of(op->reg.value);
		if (reg == PTC_REG_COUNT)
			return false;
		ret->value = value_of(op->reg.value, ret->size, regs[reg]);
		return true;
	}
	if (!ret->memory || op->mem.type == ZYDIS_MEMOP_TYPE_AGEN)
		return false;
	memset(&context, 0, sizeof(context));
	for (i = 0; i < sizeof(gprs); i++)
		context.values[ZYDIS_REGISTER_RAX + i] = regs[gprs[i]];
	context.values[ZYDIS_REGISTER_RIP] = ip;
	if (!ZYAN_SUCCESS(ZydisCalcAbsoluteAddressEx(in, op, ip, &context, &addr)))
		return false;
	ret->addr = addr + segment_base(op->mem.segment, regs);
	if (stores_below(in, op))
		ret->addr -= ret->size;
	return true;
}

/* Returns the registers of an operand that is visible in the text, as a mask. */
static uint32_t regs_of(const ZydisDecodedOperand *op)
{
	const ZydisRegister used[] = {
		op->type == ZYDIS_OPERAND_TYPE_REGISTER ? op->reg.value : ZYDIS_REGISTER_NONE,
		op->type == ZYDIS_OPERAND_TYPE_MEMORY ? op->mem.base : ZYDIS_REGISTER_NONE,
		op->type == ZYDIS_OPERAND_TYPE_MEMORY ? op->mem.index : ZYDIS_REGISTER_NONE,
	};
	uint32_t mask = 0;
	size_t i, reg;

	for (i = 0; i < sizeof(used) / sizeof(used[0]); i++) {
		reg = reg_of(used[i]);
		if (reg != PTC_REG_COUNT)
			mask |= UINT32_C(1) << reg;
	}
	return mask;
}

bool ptc_operands_read(const uint8_t *bytes, size_t len, uint64_t ip,
		       const uint64_t regs[PTC_REG_COUNT], struct ptc_operands *ret)
{
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction in;
	ZydisDecoder decoder;
	size_t i;

	(void)ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes, len, &in, operands)))
		return false;
	*ret = (struct ptc_operands){
		.divides = in.mnemonic == ZYDIS_MNEMONIC_DIV || in.mnemonic == ZYDIS_MNEMONIC_IDIV,
		.undefined = in.mnemonic == ZYDIS_MNEMONIC_UD0 ||
			     in.mnemonic == ZYDIS_MNEMONIC_UD1 || in.mnemonic == ZYDIS_MNEMONIC_UD2,
	};
	for (i = 0; i < in.operand_count; i++) {
		if (i < in.operand_count_visible)
			ret->regs |= regs_of(&operands[i]);
		ret->n += evaluate_operand(&in, &operands[i], ip, regs, &ret->items[ret->n]);
	}
	return true;
}
