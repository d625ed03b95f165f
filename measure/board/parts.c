/* parts.c -- see parts.h. */
#include "measure/board/parts.h"

double hn_parts_share(const struct hn_parts *p)
{
	double points = 0, of = 0;

	for (uint32_t i = 0; i < p->n; i++) {
		points += p->part[i].points;
		of += p->part[i].of;
	}
	return of > 0 ? points / of : 1;
}
