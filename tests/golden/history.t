# A kernel out of a log, as ApplyHistoryBest takes it: of the records of this computation that were
# measured without an error on a target that fits, the one of the lowest mean cost.
$ echo 'mm(float32 A[64,48], float32 B[48,80]) -> C { C(i,j) +=! A(i,k) * B(k,j) }' > mm.txt
$ r() { printf '{"i": [["%s", "%s"], [[], %s]], "r": [[%s], %s, 0.1, 1], "v": "v0.6"}\n' "$@"; }; v='[["AN", 2, 1, 2]]'; p='[["AN", 2, 0, 3]]'; s='[["SP", 2, 0, 64, [8], 1]]'; { echo '# a comment'; r k 'llvm -keys=cpu' "$v" '0.003, 0.001' 0; r k llvm "$p" '0.0001, 0.0049' 0; r k llvm "$s" 0.004 0; echo; echo junk; r k llvm "$p" 1e-6 4; r k cuda "$p" 2e-6 0; r k llvm '[["SP", 2, 0, 512, [8], 1]]' 3e-6 0; r k llvm '[["AN", 7, 0, 3]]' 4e-6 0; r 0000000000000000000000000000000000000000000000000000000000000000 cpu "$p" 5e-6 0; r k 'cpu -isa=nonsense' "$p" 6e-6 0; } > log; wc -l < log
12
$ hone replay mm.txt --records log -o out
hone: log:2: 2.000 ms there, the best of 3
out/mm.o
out/mm.h
out/mm.json
out/hone/kernel.h
out/hone/pool.h
out/hone_pool.o
$ grep -o '"steps":[^}]*\]\]' out/mm.json
"steps":[["AN", 2, 1, 2]]
$ hone replay mm.txt --records - -o out < log 2>&1 | head -1
hone: -:2: 2.000 ms there, the best of 3
# A line of it by itself is a record, too; so are the steps of one.
$ sed -n '1p;4p' log > line; hone replay mm.txt --record line -o out > /dev/null; grep -o '"steps":[^}]*\]\]' out/mm.json
"steps":[["SP", 2, 0, 64, [8], 1]]
$ echo '[["AN", 2, 0, 3]]' > steps; hone replay mm.txt --record steps -o out > /dev/null; grep -o '"steps":[^}]*\]\]' out/mm.json
"steps":[["AN", 2, 0, 3]]
$ hone poly mm.txt --record line --as schedule | head -1
domain: "{ S1[l0_0, l1_0, l2_0, l3_0] : 0 <= l0_0 <= 7 and 0 <= l1_0 <= 7 and 0 <= l2_0 <= 79 and 0 <= l3_0 <= 47; S0[l0_0, l1_0, l2_0] : 0 <= l0_0 <= 7 and 0 <= l1_0 <= 7 and 0 <= l2_0 <= 79 }"
# What cannot be meant.
$ hone replay mm.txt --record log -o out
hone: log: a log of several records; --records takes the best
[17]
$ : > empty; hone replay mm.txt --record empty -o out
hone: empty: empty
[17]
$ echo '# nothing' > empty; hone replay mm.txt --record empty -o out
hone: empty: neither steps nor a record
[17]
$ grep -v SP log | tail -5 > other; hone replay mm.txt --records other -o out
hone: other: no record of this computation was measured on such a target (2 on others, 1 failed)
[11]
$ printf 'junk\nmore\n' > junk; hone replay mm.txt --records junk -o out
hone: junk: none of its 0 records is of this computation, and 2 lines are none; the first: junk:1:1: record: `{` expected, not `j`
[11]
$ hone replay mm.txt --records log --auto -o out
hone: replay: --record, --records or --auto, not several
[17]
$ hone replay mm.txt --records none.log -o out
hone: none.log: cannot open: No such file or directory
[11]
# tune measures it: that is the policy, and another one is a contradiction.  A log of nothing is an
# error before anything is started.
$ hone tune mm.txt -n 2 --records log --policy random
hone: --policy random measures no log: leave out --records, or the policy
[17]
$ hone tune mm.txt -n 2 --records junk
hone: junk: none of its 0 records is of this computation, and 2 lines are none; the first: junk:1:1: record: `{` expected, not `j`
[11]
$ hone tune mm.txt mm.txt -n 2 --records log
hone: --records: a log is measured for one computation at a time
[17]
$ hone tune mm.txt -n 2 --records - < log
hone: --records: tune takes a file, not a pipe
[17]
