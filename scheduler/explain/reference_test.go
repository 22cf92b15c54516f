package explain

import (
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
)

// A Reference is a row of docs/guide/reasons.md, which explains one kind of reason.
type Reference struct {
	Means   string
	Ends    string // what changes the state of the job; may be empty
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
	return &explainContext{spec: spec, why: why, view: view, rivals: []string{"x", "y", "z"}, ahead: []string{"w"}, refused: "job x: 9 GPUs", gained: true}
}

func configured(nodes, n int, t cluster.GPUType) cluster.Configuration {
	return cluster.Configuration{Nodes: nodes, GPUs: n, GPUType: t}
}

var references = map[policy.Kind]Reference{
	policy.Unexplained: {
		Means: "The policy gives no reason.",
	},
	policy.AsPlanned: {
		Means: "The job keeps its GPUs, as planned.",
		Why:   policy.Reason{Value: 3.1416},
	},
	policy.Started: {
		Means: "The job gets its first GPUs, or GPUs again.",
		Why:   policy.Reason{Value: 2.5},
	},
	policy.Grown: {
		Means: "The job gets more GPUs than it had.",
		Why:   policy.Reason{Config: configured(1, 2, "a100"), Value: 2.1, Limit: 1.2},
	},
	policy.Shrunk: {
		Means: "The job has fewer GPUs than before, because other jobs gain more from them.",
		Ends:  "Other jobs need the GPUs less.",
		Why:   policy.Reason{Config: configured(1, 4, "a100"), Value: 0.6, Limit: 0.9},
	},
	policy.Moved: {
		Means: "The job gets another GPU type, other nodes, or fewer GPUs that are as good for it.",
		Why:   policy.Reason{Config: configured(1, 4, "t4"), Value: 3, Limit: 1.5},
	},
	policy.KeptNoRestart: {
		Means: "The job keeps its GPUs. Others would be better for it, but not enough to pay for a restart.",
		Ends:  "The gain becomes larger, or the job older: the older the job, the less a restart counts.",
		Why:   policy.Reason{Config: configured(2, 16, "a100"), Value: 1.05, Limit: 1.12},
	},
	policy.AboveShare: {
		Means: "The job has more CPUs or memory than in proportion to its GPUs, because it trains faster with them.",
		Ends:  "Other jobs gain more from them.",
		Why:   policy.Reason{Config: configured(1, 4, "a100"), Value: 1.8},
	},
	policy.BelowShare: {
		Means: "The job has fewer CPUs and less memory than in proportion to its GPUs, and is as fast.",
		Why:   policy.Reason{Config: configured(1, 4, "a100"), Value: 1},
	},
	policy.PinnedRestore: {
		Means: "The job is starting, or restoring its checkpoint, and is not interrupted.",
		Ends:  "Its first training step.",
	},
	policy.PinnedNonPreempt: {
		Means: "The job was submitted as not preemptible.",
		Ends:  "The end of the job.",
	},
	policy.Reserved: {
		Means: "The job holds GPUs that are reserved for it.",
		Ends:  "The end of the job.",
	},
	policy.Promised: {
		Means: "The job has precedence, because it would otherwise end much later than under EASY backfilling.",
		Why:   policy.Reason{Value: 5400},
	},
	policy.WaitNoCapacity: {
		Means: "Too few GPUs are free for the job, even at its smallest size.",
		Ends:  "More GPUs become free.",
		Why:   policy.Reason{Config: configured(1, 8, "a100"), Value: 3, Limit: 8},
	},
	policy.WaitServed: {
		Means: "The policy ranks the jobs that hold GPUs ahead of this job. The other GPUs are too few, or the job cannot use them.",
		Ends:  "Those jobs end, or this job is ranked higher.",
		Why:   policy.Reason{Config: configured(1, 8, "a100"), Value: 3, Limit: 8},
	},
	policy.WaitPriority: {
		Means: "Jobs of a higher priority come first. The other GPUs are too few, or the job cannot use them.",
		Ends:  "Those jobs end.",
		Why:   policy.Reason{Config: configured(1, 8, "a100"), Value: 3, Limit: 8},
	},
	policy.WaitShare: {
		Means: "Jobs of other users or namespaces come first, up to their shares. The other GPUs are too few, or the job cannot use them.",
		Ends:  "Those jobs end, or those users need less.",
		Why:   policy.Reason{Config: configured(1, 8, "a100"), Value: 3, Limit: 8},
	},
	policy.WaitPrice: {
		Means: "Other jobs gain more from the GPUs.",
		Ends:  "Those jobs end or need the GPUs less.",
		Why:   policy.Reason{Config: configured(1, 2, "a100"), Value: 1.2, Limit: 1.8},
	},
	policy.WaitHost: {
		Means: "GPUs are free, but no node has enough free CPUs and memory together with them.",
		Ends:  "CPUs and memory become free.",
		Why:   policy.Reason{Config: configured(1, 4, "a100"), Value: 24, Limit: 4e11},
	},
	policy.WaitOrder: {
		Means: "Other jobs are ahead in the queue.",
		Ends:  "The jobs ahead start, and enough GPUs are free.",
		Why:   policy.Reason{Value: 1, Limit: 8},
	},
	policy.WaitBackfill: {
		Means: "Enough GPUs are free, but the start of the job would delay the first job in the queue.",
		Ends:  "The first job starts, or more GPUs become free.",
		Why:   policy.Reason{Value: 3600, Limit: 8},
	},
	policy.WaitNodes: {
		Means: "Rented nodes are ordered for the job, but not ready.",
		Ends:  "The nodes are ready.",
		Why:   policy.Reason{Config: configured(2, 16, "a100"), Value: 1},
	},
	policy.WaitBudget: {
		Means: "The nodes that the job needs would exceed the budget.",
		Ends:  "Other jobs end, time passes with less spending, or the budget grows.",
		Why:   policy.Reason{Config: configured(1, 4, "t4"), Value: 43.5, Limit: 40},
	},
	policy.Reclaimed: {
		Means: "The owner took back the job's nodes, which were lent or rented.",
		Ends:  "The next round.",
		Why:   policy.Reason{Config: configured(2, 12, "t4")},
	},
	policy.WaitProfile: {
		Means: "The speed of the job on one GPU of each type is being measured.",
		Ends:  "The last measurement.",
	},
	policy.WaitTurn: {
		Means: "Jobs take turns, and this job has used its share of the time.",
		Ends:  "Other jobs have had their turn.",
		Why:   policy.Reason{Value: 300, Limit: 1200},
	},
	policy.WaitPlanned: {
		Means: "Jobs take turns, and the turn of this job comes later.",
		Ends:  "Time passes, or other jobs end early.",
		Why:   policy.Reason{Config: configured(1, 2, "a100"), Value: 240, Limit: 600},
	},
	policy.Unpredicted: {
		Means: "The job keeps its GPUs. The plan assumes its present batch size, because changes of it cannot be predicted.",
		Why:   policy.Reason{Config: configured(1, 2, "a100"), Value: 96},
	},
	policy.Evicted: {
		Means: "The plan had GPUs for the job, but the free GPUs are scattered over too many nodes.",
		Ends:  "Jobs on those nodes end or move.",
		Why:   policy.Reason{Config: configured(2, 16, "a100")},
	},
	policy.KeptNoPlace: {
		Means: "The job keeps its GPUs. The plan had others for it, but these are scattered over too many nodes.",
		Ends:  "Jobs on those nodes end or move.",
		Why:   policy.Reason{Config: configured(1, 4, "a100")},
	},
	policy.WaitQuota: {
		Means: "The quota of its queue is too small for the job now.",
		Ends:  "Jobs that use the quota end, or the quota grows.",
		Why:   policy.Reason{Config: cluster.Configuration{Nodes: 1, GPUs: 8}, Value: 3, Limit: 8},
	},
	policy.WaitCap: {
		Means: "Its user, queue or class has used up the GPU-hours of this month.",
		Ends:  "The next month begins, or the cap grows.",
		Why:   policy.Reason{Config: cluster.Configuration{GPUType: "queue vision in 2026-11"}, Value: 500.2, Limit: 500},
	},
	policy.Impossible: {
		Means: "The whole cluster is too small for the request of the job.",
		Ends:  "The cluster grows, or the job is submitted again for fewer GPUs.",
		Why:   policy.Reason{Config: configured(8, 64, "a100")},
	},
	policy.Refused: {
		Means: "The plan of the policy broke a rule. All jobs keep what they have.",
		Ends:  "The next plan that keeps the rules.",
	},
}
