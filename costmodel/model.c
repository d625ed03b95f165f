/* costmodel/model.c -- the table of models. */
#include "costmodel/model.h"

#include <string.h>

#define MODEL(name) extern const struct hn_model_ops hn_model_##name;
#include "costmodel/models.def"
#undef MODEL

static const struct hn_model_ops *const models[] = {
#define MODEL(name) &hn_model_##name,
#include "costmodel/models.def"
#undef MODEL
};

const struct hn_model_ops *hn_model_ops(const char *name)
{
	for (size_t i = 0; i < HN_COUNT_OF(models); i++) {
		if (strcmp(models[i]->name, name) == 0) {
			return models[i];
		}
	}
	return NULL;
}
