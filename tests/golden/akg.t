# A fused operator of AKG is a network, by its content and whatever its name.
$ cp "$HONE_SOURCE/tests/data/fuzz/akg/softmax" k.info; hone model k.info --as text
hone: k.info: made for "cuda", which is a hint: --target says the machine
k00_reduce(float16 T1[4,8]) -> T2 {
	T2(i0,i1) reduce=! T1(i0,r1) by (x), (y) -> max(x, y) from -inf  where i0 in 0:4, i1 in 0:1, r1 in 0:8
}
k01_sub_exp(float16 T1[4,8], float16 T2[4,1]) -> T4 {
	T3(i0,i1) = T1(i0,i1) - T2(i0,0)  where i0 in 0:4, i1 in 0:8
	T4(i0,i1) = exp(T3(i0,i1))  where i0 in 0:4, i1 in 0:8
}
k02_reduce_cast(float16 T1[4,8]) -> T3 {
	T2(i0,i1) +=! float32(T1(i0,r1))  where i0 in 0:4, i1 in 0:1, r1 in 0:8
	T3(i0,i1) = float16(T2(i0,i1))  where i0 in 0:4, i1 in 0:1
}
k03_div(float16 T1[4,8], float16 T2[4,1]) -> T3 {
	T3(i0,i1) = T1(i0,i1) / T2(i0,0)  where i0 in 0:4, i1 in 0:8
}
$ sed 's/"process"/"color":1,"process"/; s/{"axis":1/{"taste":2,"axis":1/' k.info > notes.json; hone model notes.json --as text 2>&1 >/dev/null
hone: notes.json: made for "cuda", which is a hint: --target says the machine
hone: notes.json: member "color" of the kernel, 1 time, has no meaning here; first at the top
hone: notes.json: attribute taste of ReduceSum, 1 time, has no meaning here; first op_desc[3]
$ hone dag k.info
hone: k.info: a network, which `hone model`, `hone tune` and `hone compile` take; here a computation is wanted: `hone model FILE --as text` has its kernels, each of which is one
[17]
# Sizes that it leaves open are asked for, by the names that it has.
$ hone model "$HONE_SOURCE/tests/data/fuzz/akg/open" 2>&1 | sed 's,/.*/,,'
hone: open: made for "cuda", which is a hint: --target says the machine
hone: open: the model leaves dimensions open; give their sizes: --dim batch=.. (it takes x[batch, 4])
$ hone model "$HONE_SOURCE/tests/data/fuzz/akg/open" --dim batch=3 --as text 2>&1 | sed 's,/.*/,,'
hone: open: made for "cuda", which is a hint: --target says the machine
k00_greater_where(float32 T1[3,4]) -> T3 {
	T2(i0,i1) = T1(i0,i1) > float32(0.5)  where i0 in 0:3, i1 in 0:4
	T3(i0,i1) = select(T2(i0,i1), T1(i0,i1), float32(1))  where i0 in 0:3, i1 in 0:4
}
k01_reduce(float32 T1[3,4]) -> T2 {
	T2 +=! T1(r0,r1)  where r0 in 0:3, r1 in 0:4
}
# What is not taken is listed, all of it.
$ sed 's/"Exp"/"Custom"/; s/"Sub"/"StandardNormal"/' k.info > refused.info; hone compile refused.info -o out
hone: refused.info: made for "cuda", which is a hint: --target says the machine
hone: StandardNormal, 1 time: hone draws no random numbers; node op_desc[1]
hone: 3 nodes behind those were not looked at
hone: refused.info: StandardNormal: hone draws no random numbers (node op_desc[1])
[18]
$ sed 's/"Gather"/"CSRGather"/; s/"Mul"/"Custom"/' "$HONE_SOURCE/tests/data/fuzz/akg/places" > several.info; hone compile several.info -o out
hone: several.info: made for "cuda", which is a hint: --target says the machine
hone: CSRGather, 1 time: rows of lengths that data choose; node op_desc[0]
hone: Custom, 1 time: a program of its own in an attribute; hone reads operators; node op_desc[3]
hone: 2 nodes behind those were not looked at
hone: several.info: CSRGather: rows of lengths that data choose (node op_desc[0]), and others
[18]
$ head -c 700 k.info > cut.info; hone check cut.info
hone: cut.info:1:701: the text ends here, inside the string of 1:699 (is the file cut short?)
[17]
