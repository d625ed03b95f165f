# A log read and written again; bad lines are reported with file, line and column, and left out.
$ printf '%s\n' '# comment' '{"i": [["[\"mm\", 4]", "llvm"], [[], [["SP", 2, 0, 512, [4, 2, 8], 1]]]], "r": [[0.00123, 1e+10], 0, 0.52, 1700000000], "v": "v0.2"}' '{"i":[["k","t",[4,64,64,0,0,0,0,0],"",2,["Index"]],[[],[]]],"r":[[1.50],0,2,3],"v":"v0.6"}' > good
$ hone records normalize good | sed "s/^#/(comment) #/"
(comment) # comment
{"i": [["[\"mm\", 4]", "llvm"], [[], [["SP", 2, 0, 512, [4, 2, 8], 1]]]], "r": [[0.00123, 1e+10], 0, 0.52, 1700000000], "v": "v0.2"}
{"i": [["k", "t", [4, 64, 64, 0, 0, 0, 0, 0], "", 2, ["Index"]], [[], []]], "r": [[1.50], 0, 2, 3], "v": "v0.6"}
$ hone records normalize good > once; hone records normalize once | cmp - once && echo same
same
$ printf '%s\n' 'rubbish' '' '{"i": [["k", "t"], [[], [["SP", 2, 0]]]], "r": [[1], 0, 2, 3]}' '{"i": [["k", "t"], [[], []]], "r": [[nan], 0, 2, 3]}' '{"i": [["k", "t"], [[], []]], "r": [[1], 0, 2, 3]}' '{"i": [["k' > bad
$ hone records normalize bad
hone: bad:1:1: record: `{` expected, not `r`
hone: bad:3:25: steps: step 0: SP has 5 items after its tag, not 2
hone: bad:4:38: cost: a number expected, not "nan"
hone: bad:6:9: workload key: the string does not end
{"i": [["k", "t"], [[], []]], "r": [[1], 0, 2, 3]}
hone: bad: 4 bad lines left out
[17]
$ hone records normalize < bad
hone: give `normalize` and a LOG, `import` and a LOG with --dag, or `export` and a computation; see `hone help records`
[17]
$ hone records polish bad
hone: give `normalize` and a LOG, `import` and a LOG with --dag, or `export` and a computation; see `hone help records`
[17]
$ hone records normalize bad good
hone: good: one argument too many; see `hone help records`
[17]
