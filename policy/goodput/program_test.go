package goodput

import (
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

func newProgram(t testing.TB) *Program {
	t.Helper()
	p, err := New(Options{P: -0.5, Growth: 2, Cells: true, Solver: "price"})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// alike sets the same worth for all.
func alike(w Worth) func([]*Row) {
	return func(rows []*Row) {
		for _, r := range rows {
			r.Worth = w
		}
	}
}

// servers returns a cluster of nodes of 8 GPUs, 24 CPUs and 500 GB.
func servers(t testing.TB, n int) *cluster.Cluster {
	t.Helper()
	nodes := make([]cluster.Node, n)
	for i := range nodes {
		nodes[i] = cluster.Node{ID: cluster.NodeID('a' + rune(i)), GPUType: "v100", Capacity: cluster.Resources{GPUs: 8, CPUs: 24, Memory: 500e9}}
	}
	c, err := cluster.New(nodes)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// linear is as good as it has GPUs.
type linear struct{}

func (linear) Throughput(a cluster.Allocation, _ job.BatchSize) float64 { return 10 * float64(a.GPUs) }
func (linear) Efficiency(float64) float64                               { return 1 }

// onFour is an adaptive job on four GPUs of a server that is fed 1, 2, ... 6 samples per second
// and GPU with as many CPUs.
func onFour(id job.ID) *policy.Job {
	spec := &job.Spec{ID: id, GPUs: 1, Adaptivity: job.Adaptive, Batch: job.BatchLimits{Init: 64, Max: 4096}}
	fed := &perf.Sensitivity{}
	for n := range 6 {
		fed.CPUs = append(fed.CPUs, perf.CPURate{CPUs: float64(n + 1), Rate: float64(n + 1)})
	}
	j := &policy.Job{Spec: spec, Limits: &spec.Batch, Perf: linear{}, Sensitivity: fed, Status: job.Status{Phase: job.Running}}
	j.Allocation = cluster.Allocation{Configuration: cluster.Configuration{Nodes: 1, GPUs: 4, GPUType: "v100"}, CPUs: 12, Memory: 250e9}
	return j
}

// A weight is a factor of all that the job adds; the factors of moves, the same for all columns
// or by column, leave out what the job holds, whatever CPUs it gets there.
func TestWorth(t *testing.T) {
	columns := []float64{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8}
	for name, w := range map[string]Worth{
		"as Sia has it":     {Weight: 1, Base: 1.1, Factor: 0.5},
		"weighted":          {Weight: 3, Base: 2, Factor: 0.5},
		"factors by column": {Weight: 2, Base: 1.1, Factors: columns},
	} {
		t.Run(name, func(t *testing.T) {
			p, s := newProgram(t), &policy.Snapshot{Cluster: servers(t, 2), Jobs: []*policy.Job{onFour("a")}}
			for range 2 { // filed anew, then as it was
				rows, err := p.Prepare(s, alike(w))
				if err != nil {
					t.Fatal(err)
				}
				r := rows[0]
				for c, at := range r.item.origin {
					factor := w.factor(int(at.column))
					if r.columns[at.column].GPUs == 4 {
						factor = 1
					}
					want := w.Weight * (w.Base - 1/math.Sqrt(r.cells[at.column][at.cell].goodput*factor/r.unit))
					if got := r.item.value(c); math.Abs(got-want) > 1e-12 {
						t.Errorf("%v, cell %d: value %g, want %g", r.Column(int(at.column)), at.cell, got, want)
					}
				}
			}
		})
	}
}

// With one job more than there are GPUs, the one that weighs least waits.
func TestWorth_weight_decides_who_waits(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		least := rapid.IntRange(0, 8).Draw(rt, "least")
		p, s := newProgram(t), &policy.Snapshot{Cluster: servers(t, 1)}
		for i := range 9 {
			spec := &job.Spec{ID: job.ID(rune('a' + i)), GPUs: 1, Batch: job.BatchLimits{Init: 64, Max: 64}}
			s.Jobs = append(s.Jobs, &policy.Job{Spec: spec, Limits: &spec.Batch, Perf: linear{}, Status: job.Status{Phase: job.Waiting}})
		}
		plan, err := p.Plan(t.Context(), s, func(rows []*Row) {
			for i, r := range rows {
				r.Worth = Worth{Weight: 2, Base: 1.1, Factor: 1}
				if i == least {
					r.Worth.Weight = 1
				}
			}
		})
		if err != nil {
			rt.Fatal(err)
		}
		for i, d := range plan.Jobs {
			if (i == least) != d.Allocation.IsZero() {
				rt.Errorf("job %d gets %v; job %d weighs least", i, d.Allocation, least)
			}
		}
	})
}

// Capacities have a tolerance in the program; memory has none in a plan.
func TestTrim_takes_back_bytes(t *testing.T) {
	p, four := newProgram(t), cluster.Configuration{Nodes: 1, GPUs: 2, GPUType: "v100"}
	if err := p.meet(&policy.Snapshot{Cluster: servers(t, 1)}); err != nil {
		t.Fatal(err)
	}
	plan := &policy.Plan{Jobs: make([]policy.Decision, 3)}
	for i, memory := range []int64{300e9, 150e9 + 7, 50e9} {
		plan.Jobs[i].Allocation = cluster.Allocation{Configuration: four, CPUs: 6, Memory: memory}
	}
	p.trim(plan, []*Row{{pin: configuration{Configuration: four}}, {}, {}})
	for i, want := range []int64{300e9, 150e9, 50e9} {
		if got := plan.Jobs[i].Allocation.Memory; got != want {
			t.Errorf("job %d: %d bytes, want %d", i, got, want)
		}
	}
}

// TestPlan_moves_to_other_nodes: as many GPUs of the same type on another
// number of nodes are a move, and its numbers are finite.
func TestPlan_moves_to_other_nodes(t *testing.T) {
	two, p := cluster.Configuration{Nodes: 2, GPUs: 4, GPUType: "t4"}, newProgram(t)
	one := configuration{Configuration: cluster.Configuration{Nodes: 1, GPUs: 4, GPUType: "t4"}}
	spec := &job.Spec{ID: "a", Adaptivity: job.Adaptive}
	j := &policy.Job{Spec: spec, Perf: linear{}, Limits: &spec.Batch, Status: job.Status{Since: time.Time{}, Allocation: cluster.Allocation{Configuration: two}}}
	p.prices, p.hosts = []float64{0}, make([]host, 1)
	r := &Row{job: j, columns: []configuration{one}, cells: [][]cell{{{goodput: 1}}}, held: -1, allowed: []bool{true}, unit: 1, fewest: 1}
	r.Worth = Worth{Weight: 1, Base: 1.1, Factor: 1}
	why := reasons{p}.whySize(r, 0)
	if want := (policy.Reason{Kind: policy.Moved, Config: two, Value: 1}); why != want {
		t.Errorf("got %+v, want %+v", why, want)
	}
}

// What is not asked of a model cannot be the least of its row.
func TestNormalise_finds_the_least_of_the_row(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s, p := policytest.NewWorld(rt).Snapshot(), newProgram(t)
		rows, err := p.Prepare(s, alike(Worth{Weight: 1, Base: 1.1, Factor: 1}))
		if err != nil {
			rt.Fatal(err)
		}
		for _, r := range rows {
			if !r.pin.IsZero() || r.job.Phase == job.Profiling || !r.job.Reservation.IsZero() {
				continue
			}
			least := math.Inf(1)
			for i := range r.columns {
				least = p.lower(r, i, least)
			}
			if want := least / float64(minGPUs(r)); math.Abs(r.unit/want-1) > 1e-12 {
				rt.Errorf("job %s: unit %g, want %g", r.job.ID, r.unit, want)
			}
			for i := range r.columns {
				if !r.allowed[i] || r.limited(i) || len(r.cells[i]) == 0 {
					continue
				}
				want := r.cells[i][0].goodput / least
				if r.job.Perf == nil {
					want = 0 // it is assumed, not known
				}
				if got := (reasons{p}).speed(r, i); math.Abs(got-want) > 1e-9*want {
					rt.Errorf("job %s on %v: speed %g, want %g times that of the least", r.job.ID, r.columns[i], got, want)
				}
			}
		}
	})
}

func (linear) StepTime(cluster.Allocation) perf.StepTime { return perf.StepTime{} }
