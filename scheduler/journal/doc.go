// Package journal records a run and plays it back.
//
// A Writer is a scheduler.Observer: it writes what the scheduler saw and what
// it decided as JSON Lines, by convention in a file that ends in ".oxj". A
// Reader streams the records back. Replay turns a recording into a
// scheduler.Backend, in which the same policy must decide the same actions.
//
// # Format
//
// The first line is the header; "oxj" is the version of the format:
//
//	{"oxj":2,"tool":"oxgang 0.1","policy":"sia","settings":[["p","-0.5"]],"seed":1,
//	 "start":"2000-01-01T00:00:00Z","round":60,"nodes":[{"id":"a0","type":"a100","gpus":8}],"h":"0f1e2d3c"}
//
// Every other line is one record: "t" is when, then comes one key that says
// what, and then "h", which the examples leave out. Times and durations are seconds with up to nine decimals, so that they
// are exact; "t" counts from the header's start and never decreases.
//
//	{"t":5,"submit":{"id":"bert-3","gpus":4,...}}
//	{"t":9,"report":["bert-3",30,1,4,"a100",12,0,0.21,0.04,1.5,0.7,812.5,2]}
//	{"t":6,"describe":{"id":"bert-3","gpus":4,"batch":128,...}}
//	{"t":0,"restore":{"spec":{"id":"bert-3",...},"status":{"phase":"running",...},"gets":[1,4,"a100"],"on":[["a0",4]],"reports":[[...],...]}}
//	{"t":9,"profiled":"bert-3"}
//	{"t":9,"exit":["bert-3","lost","node a1 failed"]}
//	{"t":9,"nodes":[{"id":"a0","type":"a100","gpus":8}]}
//	{"t":9,"nodes":[],"rentals":[{"node":{"id":"","type":"t4","gpus":4,"group":"t4-4","tenure":2},"most":40,"starting":2}]}
//	{"t":9,"nodes":null,"loans":[{"node":{"id":"","type":"t4","gpus":8,"group":"t4-8-loan","tenure":1},"nodes":520,"lent":90,"spare":2,"load":0.6}]}
//	{"t":9,"computed":true}
//	{"t":60,"round":{"n":1,"jobs":[...],"left":["bert-2"],"prices":[["a100",1.8]],"capacity":[["t4-4",2]],"stats":[12,3.4,3.5,0.02],"do":[...]}}
//	{"t":60,"checkpoint":{"hashed":"c2hhA…","back":0,"nodes":[...],"jobs":[{"spec":{...},"status":{...},"gets":[1,4,"a100"],"on":[["a0",4]],"said":{"why":["started",1.9],"gets":[1,4,"a100"],"on":[["a0",4]]}}],"prices":[["a100",1.8]],"memory":"7VZ…"}}
//	{"t":60,"end":true}
//
// "h" is the first eight hexadecimal digits of the SHA-256 of the file up to the comma before
// it: of all earlier lines and of this one. So a Reader finds where a line was changed, lost,
// doubled or moved, and users can check it, too (head -c BYTES FILE | sha256sum). It is no
// signature: somebody who changes a line can compute all later hashes again. It costs 15 bytes a
// line, 6 to 10 % of a journal, and about 0.2 µs. "end" is the last line of a journal that was
// closed; without it, the journal was cut off, as by a crash, or its run goes on.
//
// A "checkpoint" is the state after the round before it, so that a reader can begin there (File): the nodes
// and what can be rented and borrowed, as in "nodes"; the jobs that have not ended, as in "restore", with what was last
// "said" of each; prices, "capacity" and "refused" of the round; and what those who decide remember
// ("memory", in base 64), which only the program knows that wrote it. "hashed" is the state of SHA-256 after all
// lines before, as Go's crypto/sha256 writes it, in base 64: with it, a Reader that begins at a checkpoint compares the lines from there
// on. "back" is the byte at which the checkpoint before begins; 0: there is none. Checkpoints take about a
// seventeenth of a journal at most; one of less than 4 MiB has none.
//
// A journal may be in parts, each a file. A part that is not the first begins with the same header, in which "from" is the
// byte of the whole journal with which the part goes on, and a checkpoint. Hashes and "back" are those of the whole journal, which is
// the first header and what follows the header of each part; only the header's own "h" is of that line alone. OpenParts reads the parts that are there. A Reader of a part gives
// what its checkpoint says as records, so that parts before it can be deleted.
//
// A Reader also reads format 1. That has no "h", no "end" and no "capacity", so that nobody can
// tell whether lines of it were changed or lost.
//
// A report lists: job, interval, nodes, GPUs, GPU type, local batch,
// accumulation, step time, sync time, squared gradient, gradient variance,
// progress, epoch, whether it is of a profiling run, and the cores and bytes held.
// Cores and bytes are left out if both are zero; then so is a false.
//
// "describe" is what a job's program stated, and replaces its submission. "restore" is a
// job that was known before the scheduler was started again: its "status", with calendar
// times; what it held ("gets", "on"); the batch size that was last asked for ("asked"); and
// what its agent had reported.
//
// A round lists the jobs whose decision is not what the journal last said of
// them, and of those only what changed: "gets" [nodes, GPUs, type, cores,
// bytes], "on" [[node, GPUs, cores, bytes], ...], "batch" [local,
// accumulation], "why" [kind, value, limit, configuration]. Trailing zeros of
// these lists are left out; an empty list is the zero value. What a heterogeneous job gets
// of a second GPU type is a list within "gets": [1, 8, "v100", [2, 6, "t4"]]. Jobs that were
// in the last round and are not in this one are in "left". "refused" says why
// a plan was refused. "prices" lists GPU type, price of a GPU, and, where there are
// any, those of a core and of 10^9 bytes of memory. "capacity" lists how many nodes of each group the plan
// wants, where that is not as the journal last said. "stats" lists iterations, objective, bound, gap, true if
// the context ended before the plan was certain, and why background work failed;
// "do" the actions:
//
//	{"id":"bert-3","gets":[1,4,"a100"],"on":[["a0",4]],"why":["started",1.9]}
//	{"run":"bert-3","gets":[1,4,"a100"],"on":[["a0",4]]}   {"preempt":"bert-2"}   {"profile":"gpt-1","types":["a100"]}
//	{"compute":true}   {"provision":"t4-4","nodes":2}   {"return":["t4-4-rent-0"]}
//
// Nodes of tenure 2 can be rented: the header has all of them, later lines those that are
// there. "rentals" has for each group an example of its nodes, the most there may be, how
// many are "ready", "starting" and "leaving", and whether the last order was "refused".
//
// Nodes of tenure 1 are lent by their owner, and listed in the same way. "loans" has for each
// group how many "nodes" there are, how many are "lent" and "spare", how many the owner wants
// back ("reclaim") and when ("by"), the share that it uses itself ("load"), and how many nodes
// it expects to be able to lend throughout each interval from now on ("expected", "every"). If
// a line has "loans", its "nodes" may be null: then they are those of the last line that lists
// any.
//
// Of background work a journal says when it was started and when it ended, and neither
// its contents nor its result. That is enough, because the work is a pure function: a
// replay does the work of the policy that it runs, and delivers the result where the
// recorded work ended.
//
// The actions that a scheduler decides directly after an event (profiling a job that was
// just submitted) are not recorded, because an Observer does not see them. Rounds
// without jobs are recorded only if nodes can be rented or lent.
//
// Equal runs give equal bytes.
package journal
