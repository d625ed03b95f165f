# README's program, word for word, from the folder that replay writes and nothing else of hone's
$ export HONE_HOME=$PWD/none; hone replay --auto --text "$(sed -n "s/^hone query  --text '\(.*\)'$/\1/p" "$HONE_SOURCE/README.md")" -o out
out/matmul.o
out/matmul.h
out/matmul.json
out/hone/kernel.h
out/hone/pool.h
out/hone_pool.o
$ sed -n '/^```c$/,/^```$/p' "$HONE_SOURCE/README.md" | sed '1d; $d' >main.c; wc -l <main.c
36
$ sh -c "$(sed -n 's,^\(cc main.c out/\*\.o .*\)$,\1,p' "$HONE_SOURCE/README.md")" | sed 's/, [0-9.]* us in/, .. us in/'
c[0] = 1024, .. us in the median
# its other form, one thread and no pool, and C++, which takes the same headers
$ sed 's/, env); /, NULL); /' main.c >one.c; cc one.c out/*.o -Iout -lm -lpthread -o one && ./one | cut -d, -f 1
c[0] = 1024
$ printf '#include "matmul.h"\n#include "hone/pool.h"\nint main() { return hone_pool_threads(0) - 1; }\n' >main.cc; c++ main.cc out/*.o -Iout -lm -lpthread -o cc && ./cc
# the same files stay as they are; a file that stands in the way is not lost without a word
$ ls -i out/hone/pool.h out/hone_pool.o >before; hone replay --auto --json --text 'm(float32 A[4,4]) -> B { B(i,j) = A(j,i) }' -o out | grep -o '"object.*'; ls -i out/hone/pool.h out/hone_pool.o | diff before - && ls out
"object":"out/m.o","header":"out/m.h","manifest":"out/m.json"}
hone
hone_pool.o
m.h
m.json
m.o
matmul.h
matmul.json
matmul.o
$ rm -r out/hone; echo mine >out/hone; hone replay --auto --text 'm(float32 A[4,4]) -> B { B(i,j) = A(j,i) }' -o out
out/m.o
out/m.h
out/m.json
hone: out/hone: cannot make this directory: Not a directory
[11]
# names of the pool are taken
$ hone replay --auto --text 'm(float32 A[4,4]) -> B { B(i,j) = A(j,i) }' --symbol hone_pool -o new
hone: replay: hone-build: symbol 'hone_pool' is a word of C, or a function of its library or of hone's pool: name the kernel otherwise (--symbol)
[17]
