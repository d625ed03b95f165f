# A kernel is run when it is made. How many inputs there is time for is the machine's affair.
$ echo 'mm(float32 A[24,20], float32 B[20,64]) -> C { C(i,j) +=! A(i,k) * B(k,j) }' > mm.txt
$ hone replay mm.txt --auto -o out >log && grep -o '"check".*"hone"' out/mm.json | sed 's/"inputs":[1-3],/"inputs":N,/; s/},{.*}]/}]/; s/"error":[0-9.e-]*/"error":N/'
"check":{"inputs":N,"why":null,"cases":[{"inputs":"ordinary","sizes":[],"elements":1536,"of":1536,"error":N,"allowed":4.47213595499958e-05}]},"hone"
$ hone tune mm.txt --trials 0 | sed -n '/^  kernel/s/[0-9][0-9]*/N/gp'
  kernel  run here, right on N inputs: N of N elements compared
# One that is wrong is refused, and nothing is written; the sandbox holds one that goes astray.
$ export HONE_TEST_HOOKS=1; for plant in wrong oob div0; do HONE_TEST_PLANT=$plant hone replay mm.txt --auto -o bad; echo "[$?]"; ls -A bad; done
hone: replay: the kernel is wrong, and is not given out: WRONG_RESULT: C[0,0]: got -0.821175814, want -1.82117581
[25]
hone: replay: the kernel is wrong, and is not given out: SEGV_GUARD: write 0 bytes past the end of C
[25]
hone: replay: the kernel is wrong, and is not given out: FPE: integer division by zero or overflow
[25]
$ export HONE_TEST_HOOKS=1; HONE_TEST_PLANT=wrong hone tune mm.txt --trials 0
hone: tune: the kernel is wrong, and is not given out: WRONG_RESULT: C[0,0]: got -0.821175814, want -1.82117581
[25]
# Without the check it goes through, and the manifest says so.
$ export HONE_TEST_HOOKS=1; HONE_TEST_PLANT=wrong hone replay mm.txt --auto --unchecked -o un >log && grep -o '"check".*"hone"' un/mm.json
"check":{"inputs":0,"why":"--unchecked","cases":[]},"hone"
$ hone tune mm.txt --unchecked --trials 4
hone: --unchecked: candidates that are measured are always compared; it goes with `--trials 0`
[17]
# Sizes that are parameters: their ends, primes and draws.
$ printf 'mm(N in [1, 100], K in [2, 64], float32 A[N,K], float32 B[K,48]) -> C { C(i,j) +=! A(i,k) * B(k,j) }' > sized.txt
$ echo '[["SP", 2, 0, 100, [4], 1], ["SP", 2, 2, 48, [16], 1], ["RE", 2, [0, 2, 4, 1, 3]], ["AN", 2, 3, 2], ["AN", 2, 0, 3]]' > steps
$ hone replay sized.txt --record steps -o k >log && grep -o '"check".*"hone"' k/mm.json | grep -o '"sizes":[^]]*]' | head -1
"sizes":[1,2]
$ export HONE_TEST_HOOKS=1; HONE_TEST_PLANT=wrong hone replay sized.txt --record steps -o bad
hone: replay: the kernel is wrong, and is not given out: WRONG_RESULT: C[0,0]: got 0.687875867, want -0.312124133; sizes 1, 2
[25]
# Long: a part of it is interpreted. Another machine's, and too long to run: it is said.
$ echo 'l(float32 A[2048,2048], float32 B[2048,2048]) -> C { C(i,j) +=! A(i,k) * B(k,j) }' > l.txt
$ hone replay l.txt --auto -o l >log && grep -o '"check".*"hone"' l/l.json | sed 's/"elements":[0-9]*/"elements":N/; s/"error":[0-9.e-]*/"error":N/'
"check":{"inputs":1,"why":null,"cases":[{"inputs":"ordinary","sizes":[],"elements":N,"of":4194304,"error":N,"allowed":0.0004525483399593905}]},"hone"
$ hone replay mm.txt --auto --target 'cpu -isa=x86-64-avx512' -o other >log 2>&1; grep -Ec '"why":"it is made for x86-64-avx512, and this machine is|"inputs":[1-3],"why":null' other/mm.json
1
$ echo 'h(float32 A[4096,4096], float32 B[4096,4096]) -> C { C(i,j) +=! A(i,k) * B(k,j) }' > h.txt
$ hone replay h.txt --auto -o h >log; grep -o '"check".*"hone"' h/h.json
hone: the kernel was not run: a run of it would take too long
"check":{"inputs":0,"why":"a run of it would take too long","cases":[]},"hone"
# Data decides: division of integers, conversions, a chain whose elements need all of the input.
$ echo 'd(int32 A[40], int32 B[40]) -> C { C(i) = floordiv(A(i), B(i)) }' > d.txt
$ hone tune d.txt --trials 0 | sed -n '/^  kernel/s/[0-9][0-9]*/N/gp'
  kernel  run here, right on N inputs: N of N elements compared
$ echo 'c(float32 A[40]) -> C { C(i) = int8(A(i) * 100) }' > c.txt
$ hone tune c.txt --trials 0 | sed -n '/^  kernel/s/[0-9][0-9]*/N/gp'
  kernel  run here, right on N inputs: N of N elements compared
$ echo 'n(float32 X[64,40]) -> Y { s() +=! X(i,j) Y(i,j) = X(i,j) / (s() + 100) }' > n.txt
$ hone tune n.txt --trials 0 | sed -n '/^  kernel/s/[0-9][0-9]*/N/gp'
  kernel  run here, right on N inputs: N of N elements compared
