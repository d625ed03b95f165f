/* parts.c -- see parts.h. */
#include "measure/board/parts.h"

#include <math.h>

void hn_parts_write(const struct hn_parts *p, struct hn_jw *w)
{
	if (p->n == 0) {
		return;
	}
	hn_jw_list(w, "slices");
	for (uint32_t i = 0; i < p->n; i++) {
		hn_jw_list(w, NULL);
		hn_jw_double(w, NULL, p->points[i]);
		hn_jw_double(w, NULL, p->of[i]);
		hn_jw_end(w);
	}
	hn_jw_end(w);
}

static bool read_pair(const struct hn_json *pair, double *points, double *of)
{
	const struct hn_json *first = pair != NULL ? hn_json_first(pair) : NULL;

	return first != NULL && hn_json_kind(pair) == HN_JSON_ARRAY && hn_json_count(pair) == 2 &&
	       hn_json_double(first, points) && hn_json_double(hn_json_next(first), of) &&
	       *points > 0 && *of >= *points && isfinite(*of);
}

bool hn_parts_read(const struct hn_json *object, struct hn_parts *ret)
{
	const struct hn_json *list = hn_json_get(object, "slices");

	*ret = (struct hn_parts){0};
	if (list == NULL) {
		return true;
	}
	if (hn_json_kind(list) != HN_JSON_ARRAY || hn_json_count(list) > HN_PARTS) {
		return false;
	}
	for (const struct hn_json *p = hn_json_first(list); p != NULL; p = hn_json_next(p)) {
		if (!read_pair(p, &ret->points[ret->n], &ret->of[ret->n])) {
			return false;
		}
		ret->n++;
	}
	return true;
}

double hn_parts_share(const struct hn_parts *p)
{
	double points = 0, of = 0;

	for (uint32_t i = 0; i < p->n; i++) {
		points += p->points[i];
		of += p->of[i];
	}
	return of > 0 ? points / of : 1;
}
