package sia

import (
	"fmt"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/policytest"
)

// servers returns a cluster of the paper's servers: 8 V100, 24 CPUs, 500 GB each.
// Source: Synergy §5.1.
func servers(t testing.TB, n int) *cluster.Cluster {
	t.Helper()
	var nodes []cluster.Node
	for i := range n {
		nodes = append(nodes, cluster.Node{ID: cluster.NodeID(fmt.Sprint(i)), GPUType: "v100", Capacity: cluster.Resources{GPUs: 8, CPUs: 24, Memory: 500e9}})
	}
	c, err := cluster.New(nodes)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// fed is a job that waits, takes in ten samples per second and GPU, and is fed
// rates of them with 1, 2, ... CPUs per GPU.
func fed(id job.ID, rates []float64, set ...func(*job.Spec)) *policy.Job {
	j := waiting(id, linear{}, set...)
	j.Sensitivity = &perf.Sensitivity{}
	j.Sensitivity.Input = j.Input
	for i, r := range rates {
		j.Sensitivity.CPUs = append(j.Sensitivity.CPUs, perf.CPURate{CPUs: float64(i + 1), Rate: r / 10})
	}
	return j
}

func allocations(t testing.TB, p *Policy, s *policy.Snapshot) string {
	t.Helper()
	text := ""
	for _, d := range mustPlan(t, p, s).Jobs {
		text += fmt.Sprintf("%v %g ", d.Allocation.Configuration, d.Allocation.CPUs)
	}
	return text
}

func TestPlan_chooses_CPUs_with_GPUs(t *testing.T) {
	rising := []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10}
	tests := map[string]struct {
		jobs []*policy.Job
		want string
	}{
		"the sensitive job gets what the other does not need": {
			[]*policy.Job{fed("a", rising, rigid(4)), fed("b", []float64{10}, rigid(4))},
			"(1, 4, v100) 20 (1, 4, v100) 4 ",
		},
		"a job of which nothing is known has its share": {
			[]*policy.Job{fed("a", rising, rigid(4)), waiting("b", linear{}, rigid(4))},
			"(1, 4, v100) 12 (1, 4, v100) 12 ",
		},
		"fewer GPUs with more CPUs each": { // four with 3 CPUs each are as good, and eight with 3 leave no other
			[]*policy.Job{holding(fed("a", rising), on(1, 4, "v100")), waiting("b", linear{}, rigid(4))},
			"(1, 2, v100) 12 (1, 4, v100) 12 ",
		},
		"a non-preemptive job gets no more than its share, because it never gives it back": {
			[]*policy.Job{fed("a", rising, rigid(4), func(s *job.Spec) { s.NonPreemptive = true })},
			"(1, 4, v100) 12 ",
		},
		"a whole node comes with its CPUs": {
			[]*policy.Job{fed("a", []float64{10}, rigid(8))},
			"(1, 8, v100) 24 ",
		},
		"a job that may not be preempted and does not run with its share waits": {
			[]*policy.Job{fed("a", rising, rigid(4), func(s *job.Spec) { s.NonPreemptive, s.Input.Working = true, 63e9 })},
			"(none) 0 ",
		},
		"a reservation has its share": {
			[]*policy.Job{fed("a", rising, func(s *job.Spec) { s.Reservation = on(1, 2, "v100") })},
			"(1, 2, v100) 6 ",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := allocations(t, newPolicy(t, DefaultOptions()), snapshot(servers(t, 1), test.jobs...)); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

func TestPlan_without_cells_leaves_CPUs_to_others(t *testing.T) {
	o := DefaultOptions()
	o.Cells = false
	s := snapshot(servers(t, 1), fed("a", []float64{1, 2, 3, 4, 5, 6}, rigid(4)), waiting("b", linear{}, rigid(4)))
	if got, want := allocations(t, newPolicy(t, o), s), "(1, 4, v100) 0 (1, 4, v100) 0 "; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Other CPUs on the GPUs that a job has cost no restart; other GPUs do.
func TestPlan_resizes_without_restart(t *testing.T) {
	a := holding(fed("a", []float64{1, 2, 3, 4, 5, 6}), on(1, 4, "v100"))
	a.Allocation.CPUs, a.Allocation.Memory = 12, 250e9
	a.Restarts, a.RestartOverhead = 1, 40*time.Minute
	p := newPolicy(t, DefaultOptions())
	if got, want := allocations(t, p, snapshot(servers(t, 1), a)), "(1, 4, v100) 24 "; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// CPUs that two jobs want have a price; memory that none lacks has none.
func TestPlan_prices_CPUs(t *testing.T) {
	rising := []float64{1, 2, 3, 4, 5, 6}
	plan := mustPlan(t, newPolicy(t, DefaultOptions()), snapshot(servers(t, 1), fed("a", rising, rigid(4)), fed("b", rising, rigid(4))))
	if p := plan.Prices[0]; p.CPU <= 0 || p.Memory != 0 || !plan.Fungible {
		t.Errorf("prices %+v, fungible %v, want a price of CPUs, none of memory, true", p, plan.Fungible)
	}
}

// With the CPUs of eight GPUs on four, a job may grow to sixteen; with those of
// four it may grow to eight, which are no better than more CPUs for its four.
func TestPlan_grows_from_CPUs(t *testing.T) {
	for cpus, want := range map[float64]string{24: "(2, 16, v100) 48 ", 12: "(1, 4, v100) 24 "} {
		a := holding(fed("a", []float64{1, 2, 3, 4, 5, 6}), on(1, 4, "v100"))
		a.Allocation.CPUs, a.Allocation.Memory = cpus, 250e9
		if got := allocations(t, newPolicy(t, DefaultOptions()), snapshot(servers(t, 2), a)); got != want {
			t.Errorf("with %g CPUs: got %s, want %s", cpus, got, want)
		}
	}
}

// No job is fed less than with the GPU-proportional share of the GPUs it gets,
// unless a reservation leaves it none.
func TestPlan_feeds_no_job_less_than_its_share(t *testing.T) {
	sensitiveJobs := 0
	rapid.Check(t, func(rt *rapid.T) {
		w, p := policytest.NewWorld(rt), newPolicy(t, DefaultOptions())
		for range 6 {
			s := w.Snapshot()
			plan := mustPlan(t, p, s)
			for i, j := range s.Jobs {
				a := plan.Jobs[i].Allocation
				info, _ := s.Cluster.Type(a.GPUType)
				if j.Sensitivity == nil || a.IsZero() || !info.Counts() || pinned(plan.Jobs[i].Why) {
					continue
				}
				sensitiveJobs++
				gpus := float64(a.GPUs)
				taken := speed(j, a.Configuration) / gpus
				got := math.Min(taken, j.Sensitivity.Rate(a.CPUs/gpus, a.Memory/int64(a.GPUs)))
				if want := math.Min(taken, j.Sensitivity.Rate(info.Share.CPUs, info.Share.Memory)); got < want*(1-1e-9) {
					rt.Errorf("job %s with %+v: %g samples per second and GPU, want at least %g", j.ID, a, got, want)
				}
			}
			w.Advance(rt, plan)
		}
	})
	if sensitiveJobs == 0 {
		t.Error("no sensitive job got anything: the worlds are too tame")
	}
}

// Where nobody is sensitive, everybody has the share, and GPUs decide alone.
func TestPlan_is_worth_as_much_where_nobody_is_sensitive(t *testing.T) {
	without := DefaultOptions()
	without.Cells = false
	rapid.Check(t, func(rt *rapid.T) {
		w := policytest.NewWorld(rt)
		s := w.Snapshot()
		for i, j := range s.Jobs {
			row := *j
			row.Sensitivity = nil
			if j.Holding() { // of its share
				row.Allocation.CPUs, row.Allocation.Memory = 0, 0
			}
			s.Jobs[i] = &row
		}
		a, b := mustPlan(t, newPolicy(t, DefaultOptions()), s).Stats, mustPlan(t, newPolicy(t, without), s).Stats
		if a.Objective > b.Bound+1e-6 || b.Objective > a.Bound+1e-6 {
			rt.Errorf("with cells: %g of %g, without: %g of %g", a.Objective, a.Bound, b.Objective, b.Bound)
		}
	})
}
