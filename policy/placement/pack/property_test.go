package pack_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/internal/draws"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/placement/pack"
	"github.com/oxgang/oxgang/policy/policytest"
	"github.com/oxgang/oxgang/policy/queue"
	"github.com/oxgang/oxgang/simulate/placementtest"
)

// batch returns the batch size that a decision or its submitter sets, or else the
// one that is best on an allocation.
func batch(j *policy.Job, a cluster.Allocation, b job.BatchSize) job.BatchSize {
	n, l := a.GPUs/j.ReplicaGPUs(a.GPUType), j.BatchLimits()
	switch {
	case b != (job.BatchSize{}):
	case j.BatchSize > 0 && !j.Adaptivity.Has(job.BatchSizes):
		b = perf.FixedBatch(j.BatchSize, n, a.GPUType, l)
	default:
		_, b = perf.BestBatch(j.Perf, a, n, l)
	}
	return b
}

// speed returns the goodput that is believed of a job with that batch size.
func speed(j *policy.Job, a cluster.Allocation, b job.BatchSize) float64 {
	if j.Perf == nil {
		return 0
	}
	return perf.Goodput(j.Perf, a, a.GPUs/j.ReplicaGPUs(a.GPUType), batch(j, a, b))
}

// broken returns nil if p is a placed plan that keeps the rules: those of
// policy.Check and CheckPlacement; nobody is slower than with the GPU-proportional
// share; and no GPU is idle that somebody was refused. asked is the plan before.
func broken(s *policy.Snapshot, asked, p *policy.Plan) error {
	errs := []error{policy.Check(s, p), policy.CheckPlacement(s, p)}
	used := make(map[cluster.GPUType]int)
	for i := range p.Jobs {
		used[p.Jobs[i].Allocation.GPUType] += p.Jobs[i].Allocation.GPUs
	}
	for i, j := range s.Jobs {
		d, a := &p.Jobs[i], &asked.Jobs[i].Allocation
		info, _ := s.Cluster.Type(a.GPUType)
		switch {
		case d.Allocation.GPUs > 0 && d.Placement == nil:
			errs = append(errs, fmt.Errorf("job %s: not placed", j.ID))
		case a.GPUs > 0 && d.Allocation.GPUs == 0 && used[a.GPUType]+a.GPUs <= info.GPUs:
			errs = append(errs, fmt.Errorf("job %s: refused %d GPUs, of which there are", j.ID, a.GPUs))
		case d.Allocation.GPUs > 0 && info.Counts() && !j.NonPreemptive:
			got, want := speed(j, d.Allocation, d.Batch), speed(j, info.Proportional(d.Allocation.Configuration), d.Batch)
			if got < want*(1-1e-9) {
				errs = append(errs, fmt.Errorf("job %s: speed %v with %+v, %v with its GPU-proportional share", j.ID, got, d.Allocation, want))
			}
		}
	}
	return errors.Join(errs...)
}

func TestBrokenCatchesSeededBugs(t *testing.T) {
	for name, bug := range map[string]func(d *policy.Decision){
		"not placed":  func(d *policy.Decision) { d.Placement = nil },
		"refused":     func(d *policy.Decision) { *d = policy.Decision{} },
		"too slow":    func(d *policy.Decision) { d.Allocation.CPUs = 1; d.Placement = share(d, 1) },
		"over a node": func(d *policy.Decision) { d.Allocation.CPUs = 25; d.Placement = share(d, 25) },
	} {
		t.Run(name, func(t *testing.T) {
			s, asked := hungry()
			p := place(t, s, asked)
			if err := broken(s, asked, p); err != nil {
				t.Fatal(err)
			}
			bug(&p.Jobs[0])
			if broken(s, asked, p) == nil {
				t.Error("not seen")
			}
		})
	}
}

func share(d *policy.Decision, cpus float64) cluster.Placement {
	s := d.Placement[0]
	s.CPUs = cpus
	return cluster.Placement{s}
}

// hungry returns one server and one job of m5.
func hungry() (*policy.Snapshot, *policy.Plan) {
	g := placementtest.NewGenerator(placementtest.Mix{Split: [3]int{0, 0, 100}}, 1)
	s := g.Snapshot(1)
	for k, j := range s.Jobs {
		if j.Sensitivity.Storage > 0 {
			s.Jobs = s.Jobs[k : k+1]
			break
		}
	}
	p, _ := placementtest.Pooled(s)
	return s, p
}

func place(t fataler, s *policy.Snapshot, asked *policy.Plan) *policy.Plan {
	pl, err := pack.New(pack.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	return placeWith(t, pl, s, asked)
}

type fataler interface{ Fatal(...any) }

func placeWith(t fataler, pl *pack.Placer, s *policy.Snapshot, asked *policy.Plan) *policy.Plan {
	p := *asked
	p.Jobs = append([]policy.Decision(nil), asked.Jobs...)
	if _, err := pl.Place(context.Background(), s, &p); err != nil {
		t.Fatal(err)
	}
	return &p
}

// TestRulesInRandomWorlds runs rounds in which jobs come and go, nodes fail, and
// plans name GPU-proportional shares or any other cells.
func TestRulesInRandomWorlds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, q := policytest.NewWorld(t), queue.New(queue.LAS())
		pl, err := pack.New(pack.Options{Penalty: rapid.SampledFrom([]float64{0, 0.1, 1}).Draw(t, "penalty")})
		if err != nil {
			t.Fatal(err)
		}
		fungible := rapid.Bool().Draw(t, "fungible")
		for range 6 {
			s := w.Snapshot()
			s.Length = rapid.SampledFrom([]time.Duration{time.Minute, 0, 6 * time.Minute}).Draw(t, "round")
			asked, err := q.Plan(context.Background(), s)
			if err != nil {
				t.Fatal(err)
			}
			asked.Fungible = fungible
			wishes(t, s, asked)
			policy.FillProportional(s, asked)
			p := placeWith(t, pl, s, asked)
			if err := broken(s, asked, p); err != nil {
				t.Fatal(err)
			}
			w.Advance(t, p)
		}
	})
}

// TestWorkersStayWhole runs rounds of jobs whose workers have several GPUs: no worker
// is on two nodes.
func TestWorkersStayWhole(t *testing.T) {
	draws.AtLeast(t, 200) // with 1 such job each on average
	split := 0
	rapid.Check(t, func(t *rapid.T) {
		w, q := policytest.NewWorld(t), queue.New(queue.LAS())
		pl, err := pack.New(pack.DefaultOptions())
		if err != nil {
			t.Fatal(err)
		}
		for range 4 {
			s := w.Snapshot()
			for _, j := range s.Jobs {
				if !j.Holding() && j.WorkerGPUs == 0 {
					j.WorkerGPUs = rapid.SampledFrom([]int{1, 2, 3}).Draw(t, "worker")
				}
			}
			asked, err := q.Plan(context.Background(), s)
			if err != nil {
				t.Fatal(err)
			}
			wishes(t, s, asked)
			policy.FillProportional(s, asked)
			p := placeWith(t, pl, s, asked)
			for i, j := range s.Jobs {
				placement, worker := p.Jobs[i].Placement, max(1, j.WorkerGPUs)
				for _, share := range placement {
					if asked.Jobs[i].Allocation.GPUs%worker == 0 && share.GPUs%worker != 0 {
						t.Fatalf("job %s: workers of %d GPUs are cut: %v", j.ID, worker, placement)
					}
				}
				if len(placement) > 1 && worker > 1 {
					split++
				}
			}
			w.Advance(t, p)
		}
	})
	if split < 20 {
		t.Errorf("%d jobs with workers of several GPUs were on several nodes, want at least 20: this shows little", split)
	}
}

// wishes lets jobs be named a cell of their matrix.
func wishes(t *rapid.T, s *policy.Snapshot, p *policy.Plan) {
	for i, j := range s.Jobs {
		a := &p.Jobs[i].Allocation
		info, _ := s.Cluster.Type(a.GPUType)
		if a.GPUs == 0 || j.Perf == nil || !info.Counts() || j.NonPreemptive {
			continue
		}
		bare := cluster.Allocation{Configuration: a.Configuration}
		rate := j.Perf.Throughput(bare, batch(j, bare, p.Jobs[i].Batch)) / float64(a.GPUs)
		cells := j.Cells(rate, &info, 1)
		if len(cells) == 0 || !rapid.Bool().Draw(t, "named") {
			continue
		}
		c := cells[rapid.IntRange(0, len(cells)-1).Draw(t, "cell")]
		a.CPUs, a.Memory = c.CPUs*float64(a.GPUs), c.Memory*int64(a.GPUs)
	}
}

// TestPlacementsAreAFunctionOfTheSnapshot: what a placer has seen before does not
// matter, and neither does the order of the jobs to what all are worth together.
func TestPlacementsAreAFunctionOfTheSnapshot(t *testing.T) {
	for _, kind := range placementtest.Kinds() {
		t.Run(kind.Name, func(t *testing.T) {
			g := placementtest.NewGenerator(kind, 3)
			g.Overhead = 0
			s := g.Snapshot(16)
			pl, _ := pack.New(pack.DefaultOptions())
			for round := range 6 {
				asked, _ := placementtest.Pooled(s)
				p, fresh := placeWith(t, pl, s, asked), place(t, s, asked)
				if fmt.Sprint(p.Jobs) != fmt.Sprint(fresh.Jobs) {
					t.Fatalf("round %d: a new placer places\n%v\nan old one\n%v", round, fresh.Jobs, p.Jobs)
				}
				s2, asked2, order := placementtest.Shuffle(s, asked, uint64(round))
				p2 := place(t, s2, asked2)
				if a, b := placementtest.Value(s, p), placementtest.Value(s2, p2); math.Abs(a-b) > 1e-6*a {
					t.Fatalf("round %d: worth %v, in another order %v", round, a, b)
				}
				for to, from := range order {
					if a, b := p.Jobs[from].Placement, p2.Jobs[to].Placement; !a.SameGPUs(b) {
						t.Fatalf("round %d: job %s is on %v, in another order on %v", round, s2.Jobs[to].ID, a, b)
					}
				}
				s = g.Next(s, p, 10)
			}
		})
	}
}
