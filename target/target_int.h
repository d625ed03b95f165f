/* target/target_int.h -- what the files of target/ share: the rows of targets.def. */
#ifndef HN_TARGET_TARGET_INT_H
#define HN_TARGET_TARGET_INT_H

#include "target/target.h"

/* The target of that isa with its row's parameters; false when no row has it. */
bool hn_target_of_isa(const char *isa, struct hn_target *ret);

#endif
