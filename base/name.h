/* base/name.h -- what names may be, and how text of strangers is shown.
 *
 * Names come from files, sockets and the store, and go to C headers, symbols, JSON, SQL,
 * terminals, logs and file names.  So there is one rule for each way, and every exit has it:
 *
 *   in    a name of a computation (op, output, axis, size, variable) is a word of harmless
 *         characters, or its reader refuses it: hn_name_fits.  A label (what people call a job or
 *         a file) is one line of shown characters: hn_label_fits.
 *   JSON  base/jw.h: escaped, whatever it is; characters that act are written as \uXXXX.
 *   SQL   bound to parameters, never part of a statement.
 *   C     a symbol is an identifier that nobody else has (lower/names.h); parameters that are
 *         none get a number.
 *   shown messages, logs and what goes to a terminal: hn_shown, one line, nothing that acts.
 */
#ifndef HN_BASE_NAME_H
#define HN_BASE_NAME_H

#include <stdbool.h>
#include <stddef.h>

/* 1 to `most` of A-Z a-z 0-9 _ $ . : @ -, beginning with a letter, a digit or _. */
bool hn_name_fits(const char *s, size_t most);
#define HN_NAME_RULE "letters, digits and _ $ . : @ -, the first of them a letter, digit or _"

/* At most `most` bytes of characters that are seen; may be empty. */
bool hn_label_fits(const char *s, size_t most);

/* The length of "postgresql" in postgresql://host/name; 0 where no scheme stands in front of "://"
 * (RFC 3986, 3.1). */
size_t hn_scheme_length(const char *place);

/* Length of the character s[0..n) begins with, 0 unless it is one that is seen: well-formed, no
 * control, nothing that changes direction, breaks the line or is invisible. */
size_t hn_shown_length(const char *s, size_t n);

/* text[0..n) into to[0..cap), NUL-terminated: a control becomes a blank, what is broken or acts a
 * '?'. Cut where the room ends, between characters. Returns its length. `to` may be `text`. */
size_t hn_shown(char *to, size_t cap, const char *text, size_t n);

#endif
