/* base/loader_int.h -- what a machine must bring to relocate its objects. */
#ifndef HN_BASE_LOADER_INT_H
#define HN_BASE_LOADER_INT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct hn_reloc {
	uint32_t type;
	uint8_t *at;	 /* the place, writable now */
	uint64_t room;	 /* bytes from `at` to the end of its section */
	uint64_t place;	 /* its address when running */
	uint64_t symbol; /* the symbol's address */
	int64_t addend;
	uint64_t got; /* address of the symbol's GOT slot */
	uint64_t
		plt; /* PLT entry: address of code that jumps to the symbol from anywhere */
};

struct hn_reloc_machine {
	uint16_t e_machine;
	uint32_t plt_bytes; /* multiple of 16 */
	/* Write the PLT entry at `at`: jump to the address held in the slot. */
	void (*plt)(uint8_t *at, uint64_t place, uint64_t got);
	/* Bytes the relocation writes: 0 for none, -1 when the type is not supported. */
	int (*width)(uint32_t type);
	/* Apply it; room >= width was checked. */
	int (*apply)(const struct hn_reloc *r, struct hn_err *err);
};

/* The machine this program runs on, NULL when there is no loader for it. */
extern const struct hn_reloc_machine *const hn_reloc_native;

#endif
