/* query.c -- asks the store for the best known schedule of a computation.
 *
 *     cc query.c $(pkg-config --cflags --libs hone) -o query
 *     ./query 'mm(float32 A[64,64], float32 B[64,64]) -> C { C(i,j) +=! A(i,k) * B(k,j) }'
 */
#include <stdio.h>
#include <string.h>

#include <hone/hone.h>

int main(int argc, char **argv)
{
	struct hone_store *store;
	struct hone_answer best;
	struct hone_error error;

	if (argc != 2) {
		fprintf(stderr, "usage: query COMPUTATION\n");
		return 2;
	}
	if (hone_store_open(NULL, &store, &error) != 0) {
		fprintf(stderr, "query: %s\n", error.text);
		return 1;
	}
	if (hone_query_dag(store, argv[1], strlen(argv[1]), NULL, &best, &error) != 0) {
		fprintf(stderr, "query: %s\n", error.text);
		hone_store_close(store);
		return 1;
	}
	printf("%s takes %.6g ns after %lu trials%s%s\n", best.name, best.median_ns,
	       best.n_trial, best.near[0] != '\0' ? ", elsewhere: " : "", best.near);
	hone_store_close(store); /* ends the answer, too */
	return 0;
}
