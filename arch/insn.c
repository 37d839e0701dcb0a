/* SPDX-License-Identifier: MIT */
#include "arch/insn.h"

#include <Zydis/Zydis.h>

#include "arch/insn_plain.h"
#include "arch/insn_unknown.h"

static_assert((int)PTC_KIND_COUNT <= (int)PTC_KIND_MAX,
	      "arrays of the library have space for each kind");

const char *ptc_kind_name(enum ptc_kind kind)
{
	static const char *const names[PTC_KIND_COUNT] = {
		[PTC_KIND_NONE] = "none",     [PTC_KIND_START] = "start",
		[PTC_KIND_ASYNC] = "async",   [PTC_KIND_JCC] = "jcc",
		[PTC_KIND_JMP] = "jmp",	      [PTC_KIND_IJMP] = "ijmp",
		[PTC_KIND_CALL] = "call",     [PTC_KIND_ICALL] = "icall",
		[PTC_KIND_RET] = "ret",	      [PTC_KIND_SYSCALL] = "syscall",
		[PTC_KIND_SYSRET] = "sysret", [PTC_KIND_INT] = "int",
		[PTC_KIND_IRET] = "iret",     [PTC_KIND_FAR] = "far",
	};

	return (unsigned int)kind < PTC_KIND_COUNT ? names[kind] : "?";
}

static uint8_t cond_of(const ZydisDecodedInstruction *in)
{
	switch (in->mnemonic) {
	case ZYDIS_MNEMONIC_LOOPNE:
		return PTC_COND_LOOPNE;
	case ZYDIS_MNEMONIC_LOOPE:
		return PTC_COND_LOOPE;
	case ZYDIS_MNEMONIC_LOOP:
		return PTC_COND_LOOP;
	case ZYDIS_MNEMONIC_JCXZ:
	case ZYDIS_MNEMONIC_JECXZ:
	case ZYDIS_MNEMONIC_JRCXZ:
		return PTC_COND_RCXZ;
	default:
		return in->opcode & 0xf; /* 70..7f and 0f 80..8f */
	}
}

static uint8_t kind_of(const ZydisDecodedInstruction *in, bool rel)
{
	const bool far = in->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR;

	switch (in->mnemonic) {
	case ZYDIS_MNEMONIC_SYSCALL:
	case ZYDIS_MNEMONIC_SYSENTER:
		return PTC_KIND_SYSCALL;
	case ZYDIS_MNEMONIC_SYSRET:
	case ZYDIS_MNEMONIC_SYSEXIT:
		return PTC_KIND_SYSRET;
	case ZYDIS_MNEMONIC_INT:
	case ZYDIS_MNEMONIC_INT1:
	case ZYDIS_MNEMONIC_INT3:
	case ZYDIS_MNEMONIC_INTO:
		return PTC_KIND_INT;
	case ZYDIS_MNEMONIC_IRET:
	case ZYDIS_MNEMONIC_IRETD:
	case ZYDIS_MNEMONIC_IRETQ:
		return PTC_KIND_IRET;
	case ZYDIS_MNEMONIC_VMLAUNCH:
	case ZYDIS_MNEMONIC_VMRESUME:
	case ZYDIS_MNEMONIC_VMCALL:
	case ZYDIS_MNEMONIC_UIRET:
		return PTC_KIND_FAR;
	case ZYDIS_MNEMONIC_XBEGIN: /* only an abort branches, asynchronously */
	case ZYDIS_MNEMONIC_XABORT:
	case ZYDIS_MNEMONIC_XEND: /* Zydis: a conditional branch, as the other two */
		return PTC_KIND_NONE;
	case ZYDIS_MNEMONIC_JMP:
		return (uint8_t)(far ? PTC_KIND_FAR : rel ? PTC_KIND_JMP : PTC_KIND_IJMP);
	case ZYDIS_MNEMONIC_CALL:
		return (uint8_t)(far ? PTC_KIND_FAR : rel ? PTC_KIND_CALL : PTC_KIND_ICALL);
	case ZYDIS_MNEMONIC_RET:
		return (uint8_t)(far ? PTC_KIND_FAR : PTC_KIND_RET);
	default:
		return (uint8_t)(in->meta.category == ZYDIS_CATEGORY_COND_BR ? PTC_KIND_JCC :
									       PTC_KIND_NONE);
	}
}

enum ptc_insn_status ptc_insn_decode_any(enum ptc_mode mode, const uint8_t *bytes, size_t len,
					 uint64_t ip, struct ptc_insn *ret)
{
	static const struct {
		ZydisMachineMode mode;
		ZydisStackWidth width;
	} modes[] = {
		[PTC_MODE_64] = { ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64 },
		[PTC_MODE_32] = { ZYDIS_MACHINE_MODE_LONG_COMPAT_32, ZYDIS_STACK_WIDTH_32 },
		[PTC_MODE_16] = { ZYDIS_MACHINE_MODE_LONG_COMPAT_16, ZYDIS_STACK_WIDTH_16 },
	};
	ZydisDecodedInstruction in;
	ZydisDecoderContext ctx;
	ZydisDecoder decoder;
	ZyanStatus st;
	bool rel;

	(void)ZydisDecoderInit(&decoder, modes[mode].mode, modes[mode].width);
	st = ZydisDecoderDecodeInstruction(&decoder, &ctx, bytes, len, &in);
	if (st == ZYDIS_STATUS_NO_MORE_DATA)
		return PTC_INSN_SHORT;
	if (!ZYAN_SUCCESS(st)) {
		const size_t n = ptc_insn_unknown_len(mode, bytes, len);

		if (!n)
			return PTC_INSN_BAD;
		*ret = (struct ptc_insn){ .len = (uint8_t)n,
					  .cond = PTC_COND_NONE,
					  .unknown = true };
		return PTC_INSN_OK;
	}
	*ret = (struct ptc_insn){ .len = in.length, .cond = PTC_COND_NONE };
	rel = in.raw.imm[0].size && in.raw.imm[0].is_relative;
	ret->kind = kind_of(&in, rel);
	if (ret->kind == PTC_KIND_JCC) {
		ret->cond = cond_of(&in);
		ret->count_bits = in.address_width;
	}
	if (rel && ret->kind != PTC_KIND_NONE) {
		ret->direct = true;
		ret->target = ip + in.length + (uint64_t)in.raw.imm[0].value.s;
		if (mode != PTC_MODE_64)
			ret->target &= in.operand_width == 16 ? 0xffff : 0xffffffff;
	}
	ret->rep = in.meta.category == ZYDIS_CATEGORY_STRINGOP ||
		   in.meta.category == ZYDIS_CATEGORY_IOSTRINGOP;
	ret->rep = ret->rep && (in.attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE |
						 ZYDIS_ATTRIB_HAS_REPNE)) != 0;
	ret->pushes_flags = in.mnemonic == ZYDIS_MNEMONIC_PUSHF ||
			    in.mnemonic == ZYDIS_MNEMONIC_PUSHFD ||
			    in.mnemonic == ZYDIS_MNEMONIC_PUSHFQ;
	ret->loads_flags = in.mnemonic == ZYDIS_MNEMONIC_POPF ||
			   in.mnemonic == ZYDIS_MNEMONIC_POPFD ||
			   in.mnemonic == ZYDIS_MNEMONIC_POPFQ || ret->kind == PTC_KIND_IRET;
	/*
	 * SDM vol. 3A, 6.8.3: after mov and pop to SS, traps are held back for one instruction; not
	 * after lss.
	 */
	ret->shadow =
		(in.mnemonic == ZYDIS_MNEMONIC_MOV && in.opcode == 0x8e && in.raw.modrm.reg == 2) ||
		(in.mnemonic == ZYDIS_MNEMONIC_POP && in.opcode == 0x17);
	ret->exits = in.mnemonic == ZYDIS_MNEMONIC_CPUID;
	return PTC_INSN_OK;
}

enum ptc_insn_status ptc_insn_decode(enum ptc_mode mode, const uint8_t *bytes, size_t len,
				     uint64_t ip, struct ptc_insn *ret)
{
	return mode == PTC_MODE_64 && ptc_insn_plain(bytes, len, ip, ret) ?
		       PTC_INSN_OK :
		       ptc_insn_decode_any(mode, bytes, len, ip, ret);
}

bool ptc_insn_taken(const struct ptc_insn *insn, uint64_t rflags, uint64_t rcx)
{
	const bool cf = rflags & 1, pf = rflags >> 2 & 1, zf = rflags >> 6 & 1;
	const bool sf = rflags >> 7 & 1, of = rflags >> 11 & 1;
	const uint64_t mask = insn->count_bits == 64 ? ~0ull : (1ull << insn->count_bits) - 1;
	bool yes;

	switch (insn->cond) {
	case PTC_COND_LOOPNE:
		return ((rcx - 1) & mask) && !zf;
	case PTC_COND_LOOPE:
		return ((rcx - 1) & mask) && zf;
	case PTC_COND_LOOP:
		return (rcx - 1) & mask;
	case PTC_COND_RCXZ:
		return !(rcx & mask);
	default:
		break;
	}
	switch (insn->cond >> 1) { /* pairs: an odd condition negates the even one before */
	case 0:
		yes = of;
		break;
	case 1:
		yes = cf;
		break;
	case 2:
		yes = zf;
		break;
	case 3:
		yes = cf || zf;
		break;
	case 4:
		yes = sf;
		break;
	case 5:
		yes = pf;
		break;
	case 6:
		yes = sf != of;
		break;
	default:
		yes = zf || sf != of;
		break;
	}
	return yes != (insn->cond & 1);
}
