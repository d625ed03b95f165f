# What a computation is called: as the user says, else by the program's own name, else by its file's.
$ echo '# a comment' > file.txt; echo 'own (float32 A[8]) -> B { B(i) = A(i) + 1 }' >> file.txt; hone dag file.txt | head -1
own
$ hone dag --text "$(cat file.txt)" | head -1
own
$ d='{"format":"compute-dag/1",NAME"ops":[{"kind":"placeholder","id":"A","name":"A","shape":[8],"dtype":"float32"},{"kind":"compute","id":"B","name":"B","shape":[8],"dtype":["float32"],"axes":[["i",0,8]],"reduce_axes":[],"body":[["add",["load","A",["var","i"]],["float",2,"float32"]]]}],"inputs_outputs":["A","B"]}'; echo "$d" | sed 's/NAME//' > plain.json; echo "$d" | sed 's/NAME/"name":"from json",/' > named.json; echo "$d" | sed 's/NAME/"name":"bad\\nname",/' > bad.json; for f in plain named bad; do hone dag $f.json | head -1; done
plain
from json
bad
$ hone dag - < plain.json | head -1
kernel
# Results of two programs never take one another's place in silence; a newer one of the same program may.
$ hone replay plain.json --auto --symbol k -o out
out/k.o
out/k.h
out/k.json
out/hone/kernel.h
out/hone/pool.h
out/hone_pool.o
$ cp out/k.json before; hone replay file.txt --auto --symbol k -o out
hone: out/k.o: there already, of another program, key ca1c1f282448; name this one with --symbol, or replace that one with --force
[17]
$ cmp before out/k.json
$ hone replay named.json --auto --symbol k -o out > /dev/null; hone replay plain.json --auto --symbol k -o out > /dev/null; hone replay file.txt --auto -o out | head -1
out/own.o
$ hone replay file.txt --auto --symbol k -o out --force > /dev/null; grep -o '"name":"own"' out/k.json
"name":"own"
$ echo 'mine' > out/other.h; hone replay file.txt --auto --symbol other -o out
hone: out/other.h: there already, of another program; name this one with --symbol, or replace that one with --force
[17]
$ cat out/other.h; cd out; ls *.json
mine
k.json
own.json
# The outputs of one op have names, and no two arguments the same.
$ r='{"reduce":{"lhs":["a","b"],"rhs":["c","d"],"result":[["select",["ge",["var","b"],["var","d"]],["var","a"],["var","c"]],["select",["ge",["var","b"],["var","d"]],["var","b"],["var","d"]]],"identity":[["int",-1,"int32"],["float",-3.4e38,"float32"]]},"source":[["var","k"],["load","x",["var","i"],["var","k"]]],"condition":["int",1,"bool"],"init":[],"value_index":'; echo '{"format":"compute-dag/1","ops":[{"kind":"placeholder","id":"x","name":"x","shape":[8,100],"dtype":"float32"},{"kind":"compute","id":"am","name":"am","shape":[8],"dtype":["int32","float32"],"axes":[["i",0,8]],"reduce_axes":[["k",0,100]],"body":['"$r"'0}},'"$r"'1}}]}],"inputs_outputs":["x","am.v0","am.v1"]}' | sed 's/\(value_index":[01]\)}}/\1}/g' > am.json; hone replay am.json --auto -o out > /dev/null; grep 'int32_t am(' out/am.h
int32_t am(const float *x, int32_t *am_v0, float *am_v1, const struct hone_env *env);
$ sed 's/"x"/"am_v0"/g; s/"id":"x"/"id":"am_v0"/' am.json > clash.json; hone replay clash.json --auto -o out > /dev/null; grep 'int32_t clash(' out/clash.h
int32_t clash(const float *arg_0, int32_t *arg_1, float *am_v1, const struct hone_env *env);
