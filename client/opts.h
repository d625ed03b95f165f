/* client/opts.h -- command lines, read by the rows of opts.def. */
#ifndef HN_CLIENT_OPTS_H
#define HN_CLIENT_OPTS_H

#include "client/cmd.h"

/* A verb as people write it, with hyphens, from its name in cmds.def, and back. */
const char *hn_opts_spell(const char *verb, char text[32]);
const char *hn_opts_unspell(const char *word, char text[32]);

/* argv[0] is the verb. 0; 1 when --help was asked for; HONE_E_INVALID names the word. */
int hn_opts_parse(const char *verb, int argc, char **argv, struct hn_opts *ret,
		  struct hn_err *err) HN_NODISCARD;

/* The verb most like `word`, or NULL when none is near. */
const char *hn_opts_nearest(const char *word);

/* All verbs; or one with its options. */
void hn_opts_print_verbs(void);
bool hn_opts_print_verb(const char *verb);

#endif
