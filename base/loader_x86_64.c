/* base/loader_x86_64.c -- relocations of x86-64, small code model, position-independent.
 *
 * Source: System V ABI, AMD64 supplement, table 4.9.  The region is below 2 GiB, so
 * distances within it always fit; only direct calls to the outside need a PLT entry.
 */
#include "base/loader_int.h"

#include <string.h>

#if defined(__x86_64__)
#include <elf.h>

static void plt_entry(uint8_t *at, uint64_t place, uint64_t got)
{
	int32_t d = (int32_t)(got - (place + 6));

	memset(at, 0xcc, 16);
	at[0] = 0xff; /* jmp *d(%rip) */
	at[1] = 0x25;
	memcpy(at + 2, &d, 4);
}

static int width(uint32_t type)
{
	switch (type) {
	case R_X86_64_NONE:
		return 0;
	case R_X86_64_64:
	case R_X86_64_PC64:
		return 8;
	case R_X86_64_PC32:
	case R_X86_64_PLT32:
	case R_X86_64_32:
	case R_X86_64_32S:
	case R_X86_64_GOTPCREL:
	case R_X86_64_GOTPCRELX:
	case R_X86_64_REX_GOTPCRELX:
		return 4;
	default:
		return -1;
	}
}

static bool fits_signed(uint64_t v)
{
	return (uint64_t)(int64_t)(int32_t)v == v;
}

static int put32(const struct hn_reloc *r, uint64_t v, bool fits, struct hn_err *err)
{
	uint32_t low = (uint32_t)v;

	if (!fits) {
		return hn_fail(err, HONE_E_UNSUPPORTED,
			       "object: relocation %u does not reach its symbol",
			       r->type);
	}
	memcpy(r->at, &low, 4);
	return 0;
}

static int apply(const struct hn_reloc *r, struct hn_err *err)
{
	uint64_t v = r->symbol + (uint64_t)r->addend;

	switch (r->type) {
	case R_X86_64_PC64:
		v -= r->place;
		/* fall through */
	case R_X86_64_64:
		memcpy(r->at, &v, 8);
		return 0;
	case R_X86_64_32:
		return put32(r, v, v <= UINT32_MAX, err);
	case R_X86_64_32S:
		return put32(r, v, fits_signed(v), err);
	case R_X86_64_PC32:
		v -= r->place;
		return put32(r, v, fits_signed(v), err);
	case R_X86_64_PLT32:
		v -= r->place;
		if (!fits_signed(v)) {
			v = r->plt + (uint64_t)r->addend - r->place;
		}
		return put32(r, v, fits_signed(v), err);
	case R_X86_64_GOTPCREL:
	case R_X86_64_GOTPCRELX:
	case R_X86_64_REX_GOTPCRELX:
		v = r->got + (uint64_t)r->addend - r->place;
		return put32(r, v, fits_signed(v), err);
	default:
		return 0;
	}
}

static const struct hn_reloc_machine x86_64 = { .e_machine = EM_X86_64,
						.plt_bytes = 16,
						.plt = plt_entry,
						.width = width,
						.apply = apply };

const struct hn_reloc_machine *const hn_reloc_native = &x86_64;
#endif
