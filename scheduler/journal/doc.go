// Package journal records a run and replays it.
//
// A Writer is a scheduler.Observer: it writes events and decisions as JSON Lines, by convention to a file that
// ends in ".oxj". A Reader streams the records back. Replay turns a recording into a scheduler.Backend, in which
// the same policy must decide the same actions.
//
// # Format
//
// The first line is the header; "oxj" is the version of the format:
//
//	{"oxj":2,"tool":"oxgang 0.1","policy":"sia","settings":[["p","-0.5"]],"seed":1,
//	 "start":"2000-01-01T00:00:00Z","round":60,"nodes":[{"id":"a0","type":"a100","gpus":8}],"h":"0f1e2d3c"}
//
// Every other line is one record: "t" is the time, then comes the key of its kind, and then "h", which the
// examples omit. Times and durations are seconds with up to nine decimals, so they are exact; "t" counts from the
// header's start and never decreases.
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
// "h" has the first eight hexadecimal digits of the SHA-256 of the file up to the comma before it. A Reader thus
// detects lines that were changed, lost, doubled or moved. It is no signature: all later hashes can be computed
// again. "end" is the last line of a journal that was closed; without it, the run crashed or still writes.
//
// A "checkpoint" is the state after the round before it, and a reader can begin there (File). It has the nodes,
// rentals and loans as in "nodes"; the jobs that have not ended as in "restore", with the last decision on each in
// "said"; prices, "capacity" and "refused" of the round; and the "memory" of scheduler, policy and placer, in
// base64, which only the program that wrote it can read. "hashed" is the state of SHA-256 after all lines before,
// as Go's crypto/sha256 encodes it, in base64: with it, a Reader checks the lines from the checkpoint on. "back"
// is the byte at which the previous checkpoint begins; 0: there is none. A journal of less than 4 MiB has no
// checkpoints.
//
// A journal may have parts, each a file. A later part begins with the same header, in which "from" is the position
// of the part in the whole journal, and a checkpoint. Hashes and "back" count in the whole journal, which has only
// the first header. OpenParts reads the parts that exist. A Reader of a part returns its checkpoint as records, so
// that earlier parts can be deleted.
//
// A Reader also reads format 1, which has no "h", "end" and "capacity": changed or lost lines are not detected.
//
// A report lists: job, interval, nodes, GPUs, GPU type, local batch, accumulation, step time, sync time, squared
// gradient, gradient variance, progress, epoch, whether it is of a profiling run, and the cores and bytes held.
// Cores and bytes are omitted if both are zero, and then a false is, too.
//
// "describe" is the report of a job's program, and replaces its submission. "restore" is a job from before a
// restart of the scheduler: its "status" with calendar times, what it held ("gets", "on"), the last requested
// batch size ("asked"), and the reports of its agent.
//
// A round lists what changed for each job with a new decision: "gets" [nodes, GPUs, type, cores, bytes], "on"
// [[node, GPUs, cores, bytes], ...], "batch" [local, accumulation], "why" [kind, value, limit, configuration].
// Trailing zeros of these lists are omitted; an empty list is the zero value. GPUs of a second type are a list
// within "gets": [1, 8, "v100", [2, 6, "t4"]]. "left" has the jobs that were in the last round and are not in this
// one. "refused" says why a plan was refused. "prices" lists GPU type, price of a GPU, and, if there are any,
// prices of a core and of 10^9 bytes of memory. "capacity" lists the wanted nodes of each group, if that changed.
// "stats" lists iterations, objective, bound, gap, true if the context ended before the plan was certain, and why
// background work failed; "do" the actions:
//
//	{"id":"bert-3","gets":[1,4,"a100"],"on":[["a0",4]],"why":["started",1.9]}
//	{"run":"bert-3","gets":[1,4,"a100"],"on":[["a0",4]]}   {"preempt":"bert-2"}   {"profile":"gpt-1","types":["a100"]}
//	{"compute":true}   {"provision":"t4-4","nodes":2}   {"return":["t4-4-rent-0"]}
//
// Nodes of tenure 2 are rented: the header has all that can be, later lines those that are up. "rentals" has for
// each group an example node, the maximum, how many are "ready", "starting" and "leaving", and whether the last
// order was "refused".
//
// Nodes of tenure 1 are lent by their owner, and listed likewise. "loans" has for each group how many "nodes"
// there are, how many are "lent" and "spare", how many the owner wants back ("reclaim") and when ("by"), the share
// that it uses itself ("load"), and how many nodes it expects to be able to lend throughout each interval from now
// on ("expected", "every"). With "loans", "nodes" may be null: the same as before.
//
// A journal records when background work started and ended, not its result: a replay does the work again.
//
// Actions decided directly after an event (profiling of a submitted job) are not recorded. Rounds without jobs are
// recorded only if nodes can be rented or lent.
//
// Equal runs give equal bytes.
package journal
