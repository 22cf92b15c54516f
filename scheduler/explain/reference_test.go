package explain

import (
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
)

// A Reference is a row of docs/guide/reasons.md, which explains one kind of reason.
type Reference struct {
	Means   string
	Numbers string
	Ahead   string // about later rounds; may be empty
	Example string
	Details string // printed by --verbose; may be empty
	Why     policy.Reason
}

// References returns a row for every kind of reason, with examples from a cluster of 16 a100 and 24 t4 GPUs.
func References() []Reference {
	all := make([]Reference, 0, len(references))
	for _, k := range policy.Kinds() {
		r := references[k]
		r.Why.Kind = k
		s := exampleContext(r.Why)
		r.Example, r.Details = s.because(), s.details()
		all = append(all, r)
	}
	return all
}

func exampleContext(why policy.Reason) *explainContext {
	price := 1.8
	view := View{Types: []TypeView{{Type: "a100", GPUs: 16, Free: 3, Price: &price}, {Type: "t4", GPUs: 24, Free: 2}}, Running: 9, Waiting: 4}
	spec := &job.Spec{ID: "j", GPUs: 8, Reservation: configured(1, 8, "a100")}
	return &explainContext{spec: spec, why: why, view: view, rivals: []string{"x", "y", "z"}, ahead: []string{"w"}, refused: "job x: 9 GPUs"}
}

func configured(nodes, n int, t cluster.GPUType) cluster.Configuration {
	return cluster.Configuration{Nodes: nodes, GPUs: n, GPUType: t}
}

var references = map[policy.Kind]Reference{
	policy.Unexplained: {
		Means:   "the policy gives no reason",
		Numbers: "none",
	},
	policy.AsPlanned: {
		Means:   "it keeps its GPUs, as planned",
		Numbers: "its speed relative to its slowest configuration (the fewest GPUs of the slowest type), if known; a configuration that is worth its price but not free, with its speed there",
		Why:     policy.Reason{Value: 3.1416},
	},
	policy.Started: {
		Means:   "it gets its first GPUs, or GPUs again",
		Numbers: "its speed, as above",
		Why:     policy.Reason{Value: 2.5},
	},
	policy.Grown: {
		Means:   "it gets more GPUs",
		Numbers: "its previous GPUs; its speed now and before, if known",
		Why:     policy.Reason{Config: configured(1, 2, "a100"), Value: 2.1, Limit: 1.2},
	},
	policy.Shrunk: {
		Means:   "it has fewer GPUs, because other jobs gain more from them",
		Numbers: "its previous GPUs; the value of each GPU to it, and the price; none if the price alone did not decide",
		Why:     policy.Reason{Config: configured(1, 4, "a100"), Value: 0.6, Limit: 0.9},
	},
	policy.Moved: {
		Means:   "it gets another GPU type, other nodes, or fewer GPUs that are as good for it",
		Numbers: "its previous GPUs; its speed now and before, if known",
		Why:     policy.Reason{Config: configured(1, 4, "t4"), Value: 3, Limit: 1.5},
	},
	policy.KeptNoRestart: {
		Means:   "a better configuration is not worth a restart",
		Numbers: "that configuration; its gain; the gain from which a restart pays",
		Ahead:   "a larger gain, or age: the older the job, the less a restart weighs",
		Why:     policy.Reason{Config: configured(2, 16, "a100"), Value: 1.05, Limit: 1.12},
	},
	policy.AboveShare: {
		Means:   "it has more CPUs or memory than the share of its GPUs",
		Numbers: "its speed relative to the speed with its share",
		Ahead:   "nothing to unblock; jobs that gain more take them back",
		Why:     policy.Reason{Config: configured(1, 4, "a100"), Value: 1.8},
	},
	policy.BelowShare: {
		Means:   "it has less CPUs and memory than the share of its GPUs, and is as fast",
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
		Means:   "it holds its reservation",
		Numbers: "none",
	},
	policy.Promised: {
		Means:   "it gets the speed that it would have under EASY backfilling, because it would end too late otherwise",
		Numbers: "seconds until it should have ended at the latest; negative: past",
		Why:     policy.Reason{Value: 5400},
	},
	policy.WaitNoCapacity: {
		Means:   "too few GPUs are free for its smallest size",
		Numbers: "its smallest configuration; free GPUs of that type, and GPUs it needs",
		Why:     policy.Reason{Config: configured(1, 8, "a100"), Value: 3, Limit: 8},
	},
	policy.WaitServed: {
		Means:   "the policy ranks jobs that hold GPUs ahead of it, and the remaining GPUs are too few, or not for it",
		Numbers: "as for no capacity",
		Why:     policy.Reason{Config: configured(1, 8, "a100"), Value: 3, Limit: 8},
	},
	policy.WaitPriority: {
		Means:   "jobs of a higher priority come first, and the remaining GPUs are too few, or not for it",
		Numbers: "as for no capacity",
		Why:     policy.Reason{Config: configured(1, 8, "a100"), Value: 3, Limit: 8},
	},
	policy.WaitPrice: {
		Means:   "other jobs gain more from the GPUs",
		Numbers: "its best configuration, and its offer per GPU, at least 0; today's price per GPU, including CPUs and memory",
		Why:     policy.Reason{Config: configured(1, 2, "a100"), Value: 1.2, Limit: 1.8},
	},
	policy.WaitHost: {
		Means:   "GPUs are free, but not on a node with enough free CPUs and memory",
		Numbers: "GPUs, cores and bytes that it wants",
		Why:     policy.Reason{Config: configured(1, 4, "a100"), Value: 24, Limit: 4e11},
	},
	policy.WaitOrder: {
		Means:   "other jobs are ahead in the queue",
		Numbers: "jobs ahead of it; GPUs that it needs",
		Why:     policy.Reason{Value: 1, Limit: 8},
	},
	policy.WaitBackfill: {
		Means:   "enough GPUs are free, but its start would delay the first job in the queue",
		Numbers: "estimated seconds until the first job starts; GPUs that it needs",
		Ahead:   "the first job starts, or more GPUs become free",
		Why:     policy.Reason{Value: 3600, Limit: 8},
	},
	policy.WaitNodes: {
		Means:   "its rented nodes are ordered, but not up",
		Numbers: "its planned configuration; nodes still missing",
		Ahead:   "its nodes are up",
		Why:     policy.Reason{Config: configured(2, 16, "a100"), Value: 1},
	},
	policy.WaitBudget: {
		Means:   "more nodes would exceed the budget",
		Numbers: "its planned configuration; the cost per hour with it, and the allowed cost",
		Ahead:   "other jobs end, time passes, or the budget grows",
		Why:     policy.Reason{Config: configured(1, 4, "t4"), Value: 43.5, Limit: 40},
	},
	policy.Reclaimed: {
		Means:   "the owner took back its nodes, on loan or rented",
		Numbers: "its previous GPUs",
		Ahead:   "the next round",
		Why:     policy.Reason{Config: configured(2, 12, "t4")},
	},
	policy.WaitProfile: {
		Means:   "its speed on one GPU of each type is being measured",
		Numbers: "none",
		Ahead:   "its last measurement",
	},
	policy.WaitTurn: {
		Means:   "it has used its share of the time",
		Numbers: "seconds of service, and seconds since submission",
		Ahead:   "other jobs have had their turn",
		Why:     policy.Reason{Value: 300, Limit: 1200},
	},
	policy.WaitPlanned: {
		Means:   "its turn is planned",
		Numbers: "its planned configuration; seconds until its turn, and seconds that the turn lasts",
		Ahead:   "time passes, or other jobs end early",
		Why:     policy.Reason{Config: configured(1, 2, "a100"), Value: 240, Limit: 600},
	},
	policy.Unpredicted: {
		Means:   "it keeps its GPUs; changes of its batch size cannot be predicted",
		Numbers: "its GPUs; its batch size in samples",
		Why:     policy.Reason{Config: configured(1, 2, "a100"), Value: 96},
	},
	policy.Evicted: {
		Means:   "it was granted GPUs, but the free GPUs are scattered",
		Numbers: "its granted configuration",
		Ahead:   "jobs on those nodes end or move",
		Why:     policy.Reason{Config: configured(2, 16, "a100")},
	},
	policy.KeptNoPlace: {
		Means:   "it keeps its GPUs: it was granted others, but they are scattered",
		Numbers: "its granted configuration",
		Ahead:   "jobs on those nodes end or move",
		Why:     policy.Reason{Config: configured(1, 4, "a100")},
	},
	policy.WaitQuota: {
		Means:   "its queue has too little quota left",
		Numbers: "its request; GPUs left in the quota, and GPUs it needs",
		Ahead:   "jobs that use the quota end, or the quota grows",
		Why:     policy.Reason{Config: cluster.Configuration{Nodes: 1, GPUs: 8}, Value: 3, Limit: 8},
	},
	policy.Impossible: {
		Means:   "the cluster is too small for its request",
		Numbers: "its request",
		Ahead:   "a larger cluster, or a smaller request",
		Why:     policy.Reason{Config: configured(8, 64, "a100")},
	},
	policy.Refused: {
		Means:   "the plan broke a rule; the previous plan stays",
		Numbers: "none; the complaint",
		Ahead:   "the next plan that keeps the rules",
	},
}
