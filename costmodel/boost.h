/* costmodel/boost.h -- trains a forest (costmodel/forest.h) on measured programs by gradient
 * boosting. New trees are added, and old trees stay as they are. */
#ifndef HN_COSTMODEL_BOOST_H
#define HN_COSTMODEL_BOOST_H

#include "costmodel/forest.h"
#include "costmodel/model.h"

/* Append `rounds` trees to f, whose sum for a statement is the logarithm of what its cycles are
 * to be multiplied by.  False, the forest as it was, when xgboost refuses.  Time: rounds * the
 * lessons' statements. */
bool hn_boost(struct hn_forest *f, const struct hn_lesson *lesson, uint32_t n, uint32_t rounds,
	      uint64_t seed);

/* The rows of n programs one after the other; to be freed. */
float *hn_boost_rows(const struct hn_features *const *f, uint32_t n, uint32_t *ret_row);

#endif
