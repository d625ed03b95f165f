# Liberties that a kernel may not take are part of the task: its text, its key, its schedule.
$ echo 'm(float32 A[64,1000]) -> C { C(i) max=! A(i,k) }' > m.txt
$ hone dag m.txt --forbid minmax,zeros --as text
m(float32 A[64,1000]) -> C {
	@no_zeros @no_minmax C(i) max=! A(i, k)
}
$ for o in '' '--forbid minmax' '--forbid zeros' '--forbid zeros,minmax' '--forbid minmax,zeros'; do hone dag m.txt $o | grep key; done | sort | uniq -c | wc -l
4
$ hone dag m.txt --bitwise | grep key >all; hone dag m.txt --forbid contraction,reassociation,reciprocal,zeros,minmax,functions,subnormals | grep key | diff all - && hone dag m.txt --bitwise --forbid zeros | grep key | diff all -
$ hone dag m.txt --forbid minmax,reasociation
hone: --forbid: 'reasociation' is no liberty (did you mean reassociation?); there are contraction, reassociation, reciprocal, zeros, minmax, functions, subnormals
[17]
$ hone query --key 00 --forbid zeros
hone: --forbid: --key says already which task it is
[17]
# In lanes and in parts, or in the order that is written.
$ echo '[["SP", 1, 1, 1000, [8], 1], ["RF", 1, 1, 1]]' > parts
$ hone poly m.txt --record parts --as legality
legal
C.rf is part of what reads it: unfolding
C.repl is C: partition of k; maximum of float32 by liberty minmax; with C.rf unfolded
$ hone poly m.txt --record parts --as legality --forbid reassociation
legal
C.rf is part of what reads it: unfolding
C.repl is C: partition of k; maximum of float32 by liberty minmax; with C.rf unfolded
$ hone poly m.txt --record parts --as legality --forbid minmax
hone: poly: hone-build: step 1: RF stage 1 (C) iter 1: C may not be reduced in parts: the task forbids minmax: of a NaN, or zeros of both signs, another order gives another
[17]
$ hone replay m.txt --auto --forbid minmax -o out >log && grep -o '"no_[a-z]*":true' out/m.json
"no_minmax":true
