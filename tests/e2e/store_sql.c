/* store_sql -- run SQL on a store that nobody has open, with hone's checksums at hand: how the
 * scripts make a store whose rows are whole and yet untrue.  store_sql FILE SQL prints each
 * row's first column. */
#include <stdio.h>

#include "db/sqlite/sqlite_int.h"

static int put(void *ctx, int n, char **value, char **name)
{
	(void)ctx;
	(void)name;
	return n > 0 && puts(value[0] ? value[0] : "") < 0;
}

int main(int argc, char **argv)
{
	sqlite3 *sql = NULL;
	char *why = NULL;

	if (argc != 3 || sqlite3_open(argv[1], &sql) != SQLITE_OK ||
	    hn_sqlite_add_functions(sql, NULL) != SQLITE_OK) {
		fprintf(stderr, "usage: store_sql FILE SQL\n");
		return 2;
	}
	if (sqlite3_exec(sql, argv[2], put, NULL, &why) != SQLITE_OK) {
		fprintf(stderr, "store_sql: %s\n", why);
	}
	sqlite3_close(sql);
	return why != NULL;
}
