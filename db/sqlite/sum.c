/* db/sqlite/sum.c -- the checksum of a row, as SQL sees it, and the rows for which it was wrong.
 *
 *   hone_sum(table, value, ...)        the checksum
 *   hone_good(sum, table, value, ...)  whether it is `sum`; if not, the row is noted
 *
 * The first value names the row.  What is noted is kept by the store (`damage`) once it is opened
 * the next time, and told at once to whoever asked (hn_db_on_damage).
 */
#include <endian.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "db/sqlite/sqlite_int.h"

/* One value: a letter for its type, eight bytes, and those of a text or blob. */
static uint64_t sum_value(sqlite3_value *v, uint64_t h)
{
	int type = sqlite3_value_type(v);
	const void *bytes = type == SQLITE_TEXT ? sqlite3_value_text(v)
			    : type == SQLITE_BLOB ? sqlite3_value_blob(v)
						  : NULL;
	uint64_t word = 0;
	double real;
	char head[9];

	if (type == SQLITE_INTEGER) {
		word = (uint64_t)sqlite3_value_int64(v);
	} else if (type == SQLITE_FLOAT) {
		real = sqlite3_value_double(v);
		memcpy(&word, &real, sizeof(word));
	} else if (type != SQLITE_NULL) {
		word = (uint64_t)sqlite3_value_bytes(v);
	}
	head[0] = "?irtbn"[type]; /* SQLITE_INTEGER is 1, then FLOAT, TEXT, BLOB, NULL */
	word = htole64(word);
	memcpy(head + 1, &word, sizeof(word));
	h = hn_hash64(head, sizeof(head), h);
	return bytes ? hn_hash64(bytes, (size_t)le64toh(word), h) : h;
}

static int64_t sum_of(int n, sqlite3_value **v)
{
	const char *table = (const char *)sqlite3_value_text(v[0]);
	uint64_t h = hn_hash64(table, strlen(table), 0);

	while (n > 1 && sqlite3_value_type(v[n - 1]) == SQLITE_NULL) {
		n--;
	}
	for (int i = 1; i < n; i++) {
		h = sum_value(v[i], h);
	}
	return (int64_t)h;
}

static void sql_sum(sqlite3_context *c, int n, sqlite3_value **v)
{
	sqlite3_result_int64(c, sum_of(n, v));
}

static void sql_good(sqlite3_context *c, int n, sqlite3_value **v)
{
	struct hn_sqlite *db = sqlite3_user_data(c);
	bool good = sqlite3_value_type(v[0]) == SQLITE_INTEGER &&
		    sqlite3_value_int64(v[0]) == sum_of(n - 1, v + 1);
	char place[80];

	if (!good && db) {
		snprintf(place, sizeof(place), "%s %lld",
			 (const char *)sqlite3_value_text(v[1]),
			 (long long)sqlite3_value_int64(v[2]));
		if (!hn_db_is_noted(&db->base, place)) {
			hn_db_note(&db->base, place, "its checksum is wrong; it is left out",
				   HN_DB_FOUND);
		}
	}
	sqlite3_result_int(c, good);
}

int hn_sqlite_add_functions(sqlite3 *sql, struct hn_sqlite *db)
{
	int rc = sqlite3_create_function_v2(sql, "hone_sum", -1,
					    SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL, sql_sum,
					    NULL, NULL, NULL);

	return rc != SQLITE_OK ? rc
			       : sqlite3_create_function_v2(sql, "hone_good", -1, SQLITE_UTF8,
							    db, sql_good, NULL, NULL, NULL);
}
