/* lower/names.c -- names that a kernel may not have.  See names.h.
 *
 * A kernel named like a function it calls would be renamed by LLVM without a word, and its callers
 * would link against the library's.  One named like a function of the pool, or whose object file
 * would be the pool's, could not be linked with it. */
#include "lower/names.h"

#include <string.h>

#include "loopstate/expr/expr.h"

static const char *const words[] = {
	"alignas",  "alignof",	"and",	    "asm",    "auto",	  "bool",      "break",
	"case",	    "catch",	"char",	    "class",  "const",	  "constexpr", "continue",
	"default",  "delete",	"do",	    "double", "else",	  "enum",      "explicit",
	"export",   "extern",	"false",    "float",  "for",	  "friend",    "goto",
	"if",	    "inline",	"int",	    "long",   "mutable",  "namespace", "new",
	"not",	    "nullptr",	"operator", "or",     "private",  "protected", "public",
	"register", "restrict", "return",   "short",  "signed",	  "sizeof",    "static",
	"struct",   "switch",	"template", "this",   "throw",	  "true",      "try",
	"typedef",  "typename", "typeof",   "union",  "unsigned", "using",     "virtual",
	"void",	    "volatile", "while",    "xor",
};

static const char *const library[] = {
	"main",	   "exit",   "abort",	      "malloc",		"calloc",
	"realloc", "free",   "aligned_alloc", "posix_memalign", "memcpy",
	"memmove", "memset", "memcmp",	      "strlen",		"printf",
	"puts",	   "read",   "write",	      "open",		"close",
	"environ", "errno",  "stdin",	      "stdout",		"stderr",
};

static bool among(const char *name, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (strcmp(list[i], name) == 0) {
			return true;
		}
	}
	return false;
}

/* sin, sinf, sinl for every function of calls.def. */
static bool is_math(const char *name)
{
	for (int f = 0; f < HN_N_FN; f++) {
		const char *base = hn_fn_c_name((enum hn_fn)f);
		size_t n = strlen(base);

		if (n > 0 && strncmp(base, name, n) == 0 &&
		    (name[n] == '\0' ||
		     ((name[n] == 'f' || name[n] == 'l') && name[n + 1] == '\0'))) {
			return true;
		}
	}
	return false;
}

bool hn_name_is_taken(const char *name)
{
	return among(name, words, HN_COUNT_OF(words)) ||
	       among(name, library, HN_COUNT_OF(library)) || is_math(name) ||
	       strncmp(name, "hone_pool", 9) == 0 || name[0] == '_';
}
