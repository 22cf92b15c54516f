package explain

import (
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
)

// A Reference says what one kind of reason means: a row of docs/guide/reasons.md.
type Reference struct {
	Means   string
	Numbers string // that the policy adds
	Ahead   string // what the sentence says of the rounds to come; empty: nothing
	Example string // the sentence of Why
	Why     policy.Reason
}

// References returns a row for every kind, in the order of the list. The examples are of a cluster of
// 16 a100 and 24 t4 GPUs.
func References() []Reference {
	all := make([]Reference, 0, len(references))
	for _, k := range policy.Kinds() {
		r := references[k]
		r.Why.Kind = k
		r.Example = exampleContext(r.Why).because()
		all = append(all, r)
	}
	return all
}

// exampleContext is what the examples speak of.
func exampleContext(why policy.Reason) *explainContext {
	price := 1.8
	view := View{Types: []TypeView{{Type: "a100", GPUs: 16, Free: 3, Price: &price}, {Type: "t4", GPUs: 24, Free: 2}}, Running: 9, Waiting: 4}
	spec := &job.Spec{ID: "j", GPUs: 8, Reservation: configured(1, 8, "a100")}
	return &explainContext{spec: spec, why: why, view: view, rivals: []string{"x", "y", "z"}, ahead: []string{"w"}, refused: "job x: 9 GPUs"}
}

func configured(nodes, n int, t cluster.GPUType) cluster.Configuration {
	return cluster.Configuration{Nodes: nodes, GPUs: n, GPUType: t}
}

// references has what is said of each kind, with the numbers of an example.
var references = map[policy.Kind]Reference{
	policy.Unexplained: {
		Means:   "the policy says nothing",
		Numbers: "none",
	},
	policy.AsPlanned: {
		Means:   "it keeps what it has, as the plan has it",
		Numbers: "its speed, relative to that on the least it runs on (the fewest GPUs of the type on which it is slowest), where that is known; if another configuration is worth its price and not free, that and its speed there",
		Why:     policy.Reason{Value: 3.1416},
	},
	policy.Started: {
		Means:   "it gets its first GPUs, or GPUs again",
		Numbers: "its speed, likewise",
		Why:     policy.Reason{Value: 2.5},
	},
	policy.Grown: {
		Means:   "it gets more GPUs",
		Numbers: "what it had; its speed now and before, where that is known",
		Why:     policy.Reason{Config: configured(1, 2, "a100"), Value: 2.1, Limit: 1.2},
	},
	policy.Shrunk: {
		Means:   "it has fewer GPUs, which do more for others",
		Numbers: "what it had; what each GPU was worth to it, and their price; none where it is not the price alone",
		Why:     policy.Reason{Config: configured(1, 4, "a100"), Value: 0.6, Limit: 0.9},
	},
	policy.Moved: {
		Means:   "it goes to another GPU type, to other nodes, or to fewer GPUs that are as good for it",
		Numbers: "what it had; its speed now and before, where that is known",
		Why:     policy.Reason{Config: configured(1, 4, "t4"), Value: 3, Limit: 1.5},
	},
	policy.KeptNoRestart: {
		Means:   "a better configuration is not worth a restart",
		Numbers: "that configuration; how many times as good it is, and from how many times on a restart pays",
		Ahead:   "a larger gain, or age: the older the job, the less a restart weighs",
		Why:     policy.Reason{Config: configured(2, 16, "a100"), Value: 1.05, Limit: 1.12},
	},
	policy.AboveShare: {
		Means:   "it has more CPUs or memory than its GPUs' share",
		Numbers: "its speed relative to that with the share",
		Ahead:   "nothing is to be unblocked; others that gain more take them back",
		Why:     policy.Reason{Config: configured(1, 4, "a100"), Value: 1.8},
	},
	policy.BelowShare: {
		Means:   "it has less CPUs and memory than its GPUs' share, and is as fast",
		Numbers: "as above",
		Why:     policy.Reason{Config: configured(1, 4, "a100"), Value: 1},
	},
	policy.PinnedRestore: {
		Means:   "it is starting, or restoring its checkpoint, and is not interrupted",
		Numbers: "none",
		Ahead:   "its first step",
	},
	policy.PinnedNonPreempt: {
		Means:   "it must not be preempted",
		Numbers: "none",
	},
	policy.Reserved: {
		Means:   "it holds what it reserved",
		Numbers: "none",
	},
	policy.WaitNoCapacity: {
		Means:   "not enough GPUs are free for the least it runs on",
		Numbers: "the smallest configuration that would do; GPUs free of its type, and needed",
		Why:     policy.Reason{Config: configured(1, 8, "a100"), Value: 3, Limit: 8},
	},
	policy.WaitServed: {
		Means:   "jobs that have GPUs are before it in the order of its policy, and what they leave is not enough, or not for it",
		Numbers: "as of no capacity",
		Why:     policy.Reason{Config: configured(1, 8, "a100"), Value: 3, Limit: 8},
	},
	policy.WaitPriority: {
		Means:   "jobs of a higher priority are before it, and what they leave is not enough, or not for it",
		Numbers: "as of no capacity",
		Why:     policy.Reason{Config: configured(1, 8, "a100"), Value: 3, Limit: 8},
	},
	policy.WaitPrice: {
		Means:   "others pay more for the GPUs",
		Numbers: "its best offer: the configuration, and what it offers per GPU, never less than 0; today's price per GPU with the CPUs and memory that come with it",
		Why:     policy.Reason{Config: configured(1, 2, "a100"), Value: 1.2, Limit: 1.8},
	},
	policy.WaitHost: {
		Means:   "GPUs are free, but no node has them with the CPUs and memory it wants",
		Numbers: "GPUs, cores and bytes that it wants",
		Why:     policy.Reason{Config: configured(1, 4, "a100"), Value: 24, Limit: 4e11},
	},
	policy.WaitOrder: {
		Means:   "others are ahead in the queue",
		Numbers: "jobs ahead of it; GPUs that it needs",
		Why:     policy.Reason{Value: 1, Limit: 8},
	},
	policy.WaitBackfill: {
		Means:   "GPUs are free for it, but the first in the queue would start later",
		Numbers: "seconds until that one is believed to start; GPUs that it needs",
		Ahead:   "that one has started, or more GPUs come free",
		Why:     policy.Reason{Value: 3600, Limit: 8},
	},
	policy.WaitNodes: {
		Means:   "nodes for it are rented and on their way",
		Numbers: "what it is to have; nodes that are not there yet",
		Ahead:   "its nodes are up",
		Why:     policy.Reason{Config: configured(2, 16, "a100"), Value: 1},
	},
	policy.WaitBudget: {
		Means:   "more nodes would cost more than may be spent",
		Numbers: "what it is to have; what would be paid per hour with that, and what may be",
		Ahead:   "ends of others, time, or a larger budget",
		Why:     policy.Reason{Config: configured(1, 4, "t4"), Value: 43.5, Limit: 40},
	},
	policy.Reclaimed: {
		Means:   "the owner took nodes back that were on loan, or rented",
		Numbers: "what it had",
		Ahead:   "the next round",
		Why:     policy.Reason{Config: configured(2, 12, "t4")},
	},
	policy.WaitProfile: {
		Means:   "its one-GPU profiles are not complete",
		Numbers: "none",
		Ahead:   "its last profile",
	},
	policy.WaitTurn: {
		Means:   "it had its share of the time",
		Numbers: "seconds of service, and since it was submitted",
		Ahead:   "others have had theirs",
		Why:     policy.Reason{Value: 300, Limit: 1200},
	},
	policy.WaitPlanned: {
		Means:   "its turn is planned",
		Numbers: "what it is to get; seconds until then, and seconds that it is to have it",
		Ahead:   "time, or earlier ends of others",
		Why:     policy.Reason{Config: configured(1, 2, "a100"), Value: 240, Limit: 600},
	},
	policy.Unpredicted: {
		Means:   "it keeps what it has; how its batch size changes is not known",
		Numbers: "what it has; samples of its batch",
		Why:     policy.Reason{Config: configured(1, 2, "a100"), Value: 96},
	},
	policy.Evicted: {
		Means:   "it was granted GPUs, but they lie scattered",
		Numbers: "what it would have had",
		Ahead:   "ends or moves of jobs on those nodes",
		Why:     policy.Reason{Config: configured(2, 16, "a100")},
	},
	policy.KeptNoPlace: {
		Means:   "it keeps what it has: it was granted other GPUs, but they lie scattered",
		Numbers: "what it was granted",
		Ahead:   "ends or moves of jobs on those nodes",
		Why:     policy.Reason{Config: configured(1, 4, "a100")},
	},
	policy.WaitQuota: {
		Means:   "its queue has too little quota left",
		Numbers: "what it asks for; GPUs that its queue may use more, and that it needs",
		Ahead:   "ends of jobs that use the quota, or a larger one",
		Why:     policy.Reason{Config: cluster.Configuration{Nodes: 1, GPUs: 8}, Value: 3, Limit: 8},
	},
	policy.Impossible: {
		Means:   "the cluster could never grant what it asks for",
		Numbers: "what it asks for",
		Ahead:   "a larger cluster, or a submission that asks for less",
		Why:     policy.Reason{Config: configured(8, 64, "a100")},
	},
	policy.Refused: {
		Means:   "the plan broke a rule, and the last one stays",
		Numbers: "none; the complaint",
		Ahead:   "the next plan that keeps the rules",
	},
}
