/* sketch/recipe.c -- the tables of recipes.def and fills.def, and which row serves a
 * target: the first whose capability bits the target has.  Names of targets play no part.
 */
#include "sketch/sketch_int.h"

#define RULE(name) extern const struct hn_rule_ops hn_rule_##name;
#include "sketch/rules.def"
#undef RULE

#define FILL(recipe, name)
#define DECLARE(name) extern const struct hn_fill_ops hn_fill_##name;
#include "sketch/fills.def"
#undef DECLARE
#undef FILL

enum recipe {
#define STRUCTURE(recipe, caps, tiling, follow, innermost) RECIPE_##recipe,
#define RULES(recipe, rule)
#define OWN(recipe, rule)
#include "sketch/recipes.def"
#undef OWN
#undef RULES
#undef STRUCTURE
	N_RECIPE
};

static const struct hn_structure structures[] = {
#define STRUCTURE(recipe, caps, tiling, follow, innermost)                               \
	{ #recipe, RECIPE_##recipe, (caps), tiling, follow, innermost },
#define RULES(recipe, rule)
#define OWN(recipe, rule)
#include "sketch/recipes.def"
#undef OWN
#undef RULES
#undef STRUCTURE
};

static const struct {
	enum recipe recipe;
	const struct hn_rule_ops *rule;
	bool own; /* not of Ansor's */
} rules[] = {
#define STRUCTURE(recipe, caps, tiling, follow, innermost)
#define RULES(recipe, rule) { RECIPE_##recipe, &hn_rule_##rule, false },
#define OWN(recipe, rule) { RECIPE_##recipe, &hn_rule_##rule, true },
#include "sketch/recipes.def"
#undef OWN
#undef RULES
#undef STRUCTURE
};

static const struct {
	enum recipe recipe;
	const struct hn_fill_ops *fill;
} fills[] = {
#define DECLARE(name)
#define FILL(recipe, name) { RECIPE_##recipe, &hn_fill_##name },
#include "sketch/fills.def"
#undef FILL
#undef DECLARE
};

const struct hn_structure *hn_structure_of(const struct hn_target *target)
{
	for (size_t i = 0; i < HN_COUNT_OF(structures); i++) {
		if ((target->caps & structures[i].caps) == structures[i].caps) {
			return &structures[i];
		}
	}
	return NULL;
}

const struct hn_rule_ops *hn_structure_rule(const struct hn_structure *st, bool own,
					    uint32_t *at)
{
	while (*at < HN_COUNT_OF(rules)) {
		uint32_t k = (*at)++;

		if ((int)rules[k].recipe == st->id && rules[k].own == own) {
			return rules[k].rule;
		}
	}
	return NULL;
}

const struct hn_fill_ops *hn_structure_fill(const struct hn_structure *st, uint32_t *at)
{
	while (*at < HN_COUNT_OF(fills)) {
		uint32_t k = (*at)++;

		if ((int)fills[k].recipe == st->id) {
			return fills[k].fill;
		}
	}
	return NULL;
}
