/* lower/llvm_start.h -- what LLVM is told once in a process, whoever makes code first: the same
 * program gives the same bytes beside any others. */
#ifndef HN_LOWER_LLVM_START_H
#define HN_LOWER_LLVM_START_H

/* Thread-safe; the second call does nothing. */
void hn_llvm_start(void);

#endif
