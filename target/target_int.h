/* target/target_int.h -- what the files of target/ share: the rows of targets.def, and those of
 * features.def as sets of bits. */
#ifndef HN_TARGET_TARGET_INT_H
#define HN_TARGET_TARGET_INT_H

#include "target/target.h"

/* The target of that isa with its row's parameters; false when no row has it. */
bool hn_target_of_isa(const char *isa, struct hn_target *ret);

/* Family and level of the isa; false when no row has it. */
bool hn_target_rank(const char *isa, const char **ret_family, int32_t *ret_level);

/* The features that a machine of the isa may have. */
uint32_t hn_target_features_of_isa(const char *isa);

/* Set the target's features by what is behind "-mattr=", those that they need too. */
int hn_target_features_parse(const char *list, struct hn_target *t,
			     struct hn_err *err) HN_NODISCARD;

/* "+a,+b"; nothing where there are none. */
void hn_target_features_print(uint32_t features, struct hn_buf *buf);

/* Less those that lack one that they need. */
uint32_t hn_target_features_whole(uint32_t features);

/* host_features.c: those of the processor that this is, and lets this process use. */
uint32_t hn_target_features_host(void);

#endif
