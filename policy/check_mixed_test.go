package policy_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
)

// mixedPlan has one job, elastic on 4 to 8 GPUs, that gets four a100 and two t4, each two of
// which do the work of one.
func mixedPlan(t testing.TB) planned {
	spec := &job.Spec{
		ID: "m", GPUs: 5, MinGPUs: 4, MaxGPUs: 8, Adaptivity: job.StrongScaling | job.Heterogeneous,
		Equivalents: map[cluster.GPUType]int{"t4": 2},
	}
	s := &policy.Snapshot{Cluster: testCluster(t), Jobs: []*policy.Job{{Spec: spec, Status: job.Status{Phase: job.Waiting}}}}
	a := grant(1, 4, "a100")
	a.Also = grant(2, 2, "t4").Configuration
	at := cluster.Placement{share("n0", 1), share("n1", 1), share("n3", 4)}
	return planned{s, &policy.Plan{Jobs: []policy.Decision{{Allocation: a, Placement: at}}}}
}

func TestCheck_of_two_types(t *testing.T) {
	type spoil = func(w *planned, j *job.Spec, d *policy.Decision)
	for name, c := range map[string]struct {
		spoil spoil
		want  string // empty: the plan passes
	}{
		"elastic": {func(*planned, *job.Spec, *policy.Decision) {}, ""},
		"rigid":   {func(_ *planned, j *job.Spec, _ *policy.Decision) { j.Adaptivity &^= job.GPUCount }, ""},
		"rigid, and not what it asks for": {func(_ *planned, j *job.Spec, _ *policy.Decision) {
			j.Adaptivity &^= job.GPUCount
			j.GPUs = 6
		}, "job m: allocated (1, 4, a100) + (2, 2, t4), worth 5 GPUs, want exactly 6"},
		"too few":  {func(_ *planned, j *job.Spec, _ *policy.Decision) { j.MinGPUs = 6 }, "worth 5 GPUs, want at least 6"},
		"too many": {func(_ *planned, j *job.Spec, _ *policy.Decision) { j.MaxGPUs = 4 }, "worth 5 GPUs, want at most 4"},
		"not heterogeneous": {func(_ *planned, j *job.Spec, _ *policy.Decision) {
			j.Adaptivity = job.StrongScaling
		}, "want one GPU type: it is not heterogeneous, or has replicas of several GPUs"},
		"a pipeline": {func(_ *planned, j *job.Spec, _ *policy.Decision) {
			j.GPUsPerReplica = map[cluster.GPUType]int{"t4": 1, "a100": 1}
		}, "want one GPU type: it is not heterogeneous, or has replicas of several GPUs"},
		"a type twice": {func(_ *planned, _ *job.Spec, d *policy.Decision) { d.Allocation.Also.GPUType = "a100" }, "want a second GPU type, not a100 again"},
		"an unknown type": {func(_ *planned, _ *job.Spec, d *policy.Decision) {
			d.Allocation.Also.GPUType = "k80"
		}, `GPU type "k80" is not in the cluster`},
		"a type it may not use": {func(_ *planned, j *job.Spec, _ *policy.Decision) { j.GPUTypes = []cluster.GPUType{"a100"} }, "GPU type t4 is not eligible"},
		"more than nodes carry": {func(_ *planned, _ *job.Spec, d *policy.Decision) { d.Allocation.Also.Nodes = 3 }, "configuration (3, 2, t4), want 1 to 3 nodes"},
		"none of the second": {
			func(_ *planned, _ *job.Spec, d *policy.Decision) {
				d.Allocation.Also = cluster.Configuration{GPUType: "t4"}
			},
			"configuration (none), want 1 to 3 nodes",
		},
		"no placement":       {func(_ *planned, _ *job.Spec, d *policy.Decision) { d.Placement = nil }, "without a placement, want one"},
		"another division":   {func(_ *planned, _ *job.Spec, d *policy.Decision) { d.Placement[0].GPUs, d.Placement[2].GPUs = 2, 3 }, "placed 3 GPUs of type t4, want the 2 allocated"},
		"less than it holds": {func(_ *planned, _ *job.Spec, d *policy.Decision) { d.Placement[2].GPUs = 3 }, "placed 5 GPUs, want the 6 allocated"},
		"nothing and a second": {func(_ *planned, _ *job.Spec, d *policy.Decision) {
			d.Allocation.Configuration, d.Placement = cluster.Configuration{}, nil
		}, "want nothing without GPUs"},
		"a type that may not change": {func(w *planned, j *job.Spec, _ *policy.Decision) {
			j.Adaptivity &^= job.AnyGPUType
			w.s.Jobs[0].Phase, w.s.Jobs[0].Allocation = job.Running, grant(1, 8, "t4")
		}, "allocated GPU type a100, want t4, which it holds"},
		"a reservation": {func(_ *planned, j *job.Spec, d *policy.Decision) {
			j.Reservation = d.Allocation.Configuration
		}, "allocated (1, 4, a100) + (2, 2, t4), want its reservation (1, 4, a100)"},
		"one that must not change": {func(w *planned, j *job.Spec, d *policy.Decision) {
			j.NonPreemptive = true
			w.s.Jobs[0].Phase, w.s.Jobs[0].Allocation = job.Running, d.Allocation
			w.s.Jobs[0].Allocation.Also.GPUs = 3
		}, "want what it holds, (1, 4, a100) + (2, 3, t4)"},
		"CPUs that count": {func(w *planned, _ *job.Spec, _ *policy.Decision) {
			nodes := slices.Clone(w.s.Cluster.Nodes())
			for i := range 3 {
				nodes[i].Capacity.CPUs, nodes[i].Capacity.Memory = 8, 64
			}
			w.s.Cluster, _ = cluster.New(nodes)
		}, "want one GPU type: its nodes count CPUs and memory"},
		"more than there is": {func(w *planned, _ *job.Spec, _ *policy.Decision) {
			other := &policy.Job{Spec: &job.Spec{ID: "t", GPUs: 11, Adaptivity: job.Rigid}, Status: job.Status{Phase: job.Waiting}}
			w.s.Jobs = append(w.s.Jobs, other)
			w.p.Jobs = append(w.p.Jobs, policy.Decision{Allocation: grant(3, 11, "t4")})
		}, "GPU type t4: allocated 13 GPUs, want at most 12"},
	} {
		t.Run(name, func(t *testing.T) {
			w := mixedPlan(t)
			c.spoil(&w, w.s.Jobs[0].Spec, &w.p.Jobs[0])
			policy.FillProportional(w.s, w.p)
			err := policy.Check(w.s, w.p)
			if c.want == "" && err != nil {
				t.Errorf("got %v, want a pass", err)
			}
			if c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got error %v, want %q", err, c.want)
			}
		})
	}
}

// What a placer returns is looked at by type too.
func TestCheckPlacement_of_two_types(t *testing.T) {
	w := mixedPlan(t)
	if err := policy.CheckPlacement(w.s, w.p); err != nil {
		t.Errorf("got %v, want a pass", err)
	}
	w.p.Jobs[0].Placement[1].GPUs, w.p.Jobs[0].Placement[2].GPUs = 2, 3
	if err := policy.CheckPlacement(w.s, w.p); err == nil || !strings.Contains(err.Error(), "placed 3 GPUs of type t4, want the 2 allocated") {
		t.Errorf("got %v, want a complaint about the division", err)
	}
}
