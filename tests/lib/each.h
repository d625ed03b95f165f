/* tests/lib/each.h -- a macro over the types of a parenthesized list of up to 11: EACH_ZERO (int,
 * char *) is (int)0, (char *)0. */
#ifndef HN_TESTS_LIB_EACH_H
#define HN_TESTS_LIB_EACH_H

#define Z1(t) (t)0
#define Z2(t, ...) (t)0, Z1(__VA_ARGS__)
#define Z3(t, ...) (t)0, Z2(__VA_ARGS__)
#define Z4(t, ...) (t)0, Z3(__VA_ARGS__)
#define Z5(t, ...) (t)0, Z4(__VA_ARGS__)
#define Z6(t, ...) (t)0, Z5(__VA_ARGS__)
#define Z7(t, ...) (t)0, Z6(__VA_ARGS__)
#define Z8(t, ...) (t)0, Z7(__VA_ARGS__)
#define Z9(t, ...) (t)0, Z8(__VA_ARGS__)
#define Z10(t, ...) (t)0, Z9(__VA_ARGS__)
#define Z11(t, ...) (t)0, Z10(__VA_ARGS__)
#define EACH_PICK(a, b, c, d, e, f, g, h, i, j, k, name, ...) name
#define EACH_ZERO(...)                                                                   \
	EACH_PICK(__VA_ARGS__, Z11, Z10, Z9, Z8, Z7, Z6, Z5, Z4, Z3, Z2, Z1)(__VA_ARGS__)

#endif
