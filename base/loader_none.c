/* base/loader_none.c -- on a machine without a relocation file nothing can be loaded. */
#include "base/loader_int.h"

#if !defined(__x86_64__)
const struct hn_reloc_machine *const hn_reloc_native = NULL;
#endif
