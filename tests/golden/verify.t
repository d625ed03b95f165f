# A log proved on a computation: what is illegal is named by line.
$ echo 'mm(float32 A[24,20], float32 B[20,64]) -> C { C(i,j) +=! A(i,k) * B(k,j) }' > mm.txt
$ echo '{"i": [["[\"mm\"]", "llvm"], [[], [["SP", 2, 2, 20, [4], 1]]]], "r": [[0.1], 0, 1, 1], "v": "v0.2"}' > log
$ echo '{"i": [["[\"mm\"]", "llvm"], [[], [["AN", 2, 2, 3]]]], "r": [[0.1], 0, 1, 1], "v": "v0.2"}' >> log
$ echo '{"i": [["[\"mm\"]", "llvm"], [[], [["SP", 2, 7, 20, [4], 1]]]], "r": [[0.1], 0, 1, 1], "v": "v0.2"}' >> log
$ hone verify mm.txt --records log
log:2: ILLEGAL: stage 2 (C): iterations of parallel loop k share an element of C
log:3: BUILD_FAIL: step 0: SP stage 2 (C) iter 7: the stage has 3 iterators
3 records: 1 proved, 2 failed
hone: verify: 2 records not proved
[17]
$ hone verify mm.txt --json --records log
{"line":2,"key":null,"verdict":"ILLEGAL","detail":"stage 2 (C): iterations of parallel loop k share an element of C"}
{"line":3,"key":null,"verdict":"BUILD_FAIL","detail":"step 0: SP stage 2 (C) iter 7: the stage has 3 iterators"}
{"records":3,"failed":2,"given":0,"withdrawn":0,"damaged":0}
hone: verify: 2 records not proved
[17]
# A line that is no record counts as one that is not proved.
$ echo junk > log; hone verify mm.txt --records log
hone: log:1:1: record: `{` expected, not `j`
1 records: 0 proved, 1 failed
hone: verify: 1 record not proved
[17]
$ hone verify mm.txt
hone: verify: give --records LOG with the computation, or nothing for the store
[17]
# What a proof leaves behind.
$ echo '{"dag": "m(float32 A[3]) -> C { C(i) = A(i) + 1.0 }", "steps": "[]"}' > ask && hone-build --verify ask | sed 's/"hone.*"checks/"checks/'
{"verdict":"OK","detail":"","certificate":"{\"format\":\"checks\":[\"bounds\",\"coverage\",\"order\",\"sequence\",\"concurrency\",\"equality\"],\"statements\":[\"S0 compute C\"],\"schedule\":\"{ S0[l0_0] -> [1, 1, l0_0, 1] : 0 <= l0_0 <= 2 }\"}"}
$ echo '{}' > ask && hone-build --verify ask
hone-build: ask:1: want {"dag": TEXT, "steps": TEXT}
[17]
