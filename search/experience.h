/* search/experience.h -- what measurements have taught a search: the model's lessons, and how
 * far off the model still is.
 *
 * The model is never quite right.  Each measured program knows how far off it was (bias: log of
 * measured over predicted speed); its descendants inherit that, fading, and programs without
 * measured ancestors get their sketch's mean.  So the search leaves a place the model overrates
 * after a few trials, before or without the model's learning it.  When the model learns, all of
 * it is reckoned anew.
 */
#ifndef HN_SEARCH_EXPERIENCE_H
#define HN_SEARCH_EXPERIENCE_H

#include "search/search_int.h"

struct hn_bias {
	double sum;
	uint32_t n;
};

struct hn_experience {
	struct hn_space *space;
	uint32_t n, cap;
	struct hn_features *features; /* [n], as those below in the space's arena */
	struct hn_lesson *lesson;     /* [n] lesson[i].f is set when the model is taught */
	const struct hn_sketch **sketch; /* [n] NULL: of none */
	uint32_t n_weighed;		 /* of them in the means */
	struct hn_bias all, *of;	 /* of[sketches] */
};

void hn_experience_init(struct hn_experience *e, struct hn_space *sp);

/* Remember that x took median_ns (INFINITY: it failed); its features are copied, the copy is what is returned. */
struct hn_features hn_experience_add(struct hn_experience *e, const struct hn_indiv *x,
				     double median_ns);

/* Teach the model what is new.  True when it learned: scores and biases got before are void. */
bool hn_experience_learn(struct hn_experience *e);

/* The bias of a scored program that took median_ns. */
double hn_experience_bias(const struct hn_indiv *x, double median_ns);

/* What is known of a sketch's programs (NULL: of none), drawn towards what is known of all. */
double hn_experience_mean(const struct hn_experience *e, const struct hn_sketch *sketch);

#endif
