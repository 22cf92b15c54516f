package boa_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/boa"
)

var dawn = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)

// A rentedCluster is made of nodes of four GPUs that are there two rounds after they were asked
// for, and of jobs that do as their test says.
type rentedCluster struct {
	t        testing.TB
	p        policy.Policy
	round    int
	most     int
	ready    []cluster.NodeID
	starting []int // rounds until each is there
	named    int
	jobs     []*policy.Job
	classes  []*perf.ClassStats
	computed any
	moves    map[job.ID]int // starts and moves
}

func newRentedCluster(t testing.TB, p policy.Policy, most int, classes ...*perf.ClassStats) *rentedCluster {
	return &rentedCluster{t: t, p: p, most: most, classes: classes, moves: map[job.ID]int{}}
}

func (f *rentedCluster) node(id cluster.NodeID) cluster.Node {
	return cluster.Node{ID: id, GPUType: "t4", Capacity: cluster.Resources{GPUs: 4}, Group: "t4-4", Tenure: cluster.Rented}
}

func (f *rentedCluster) now() time.Time { return dawn.Add(time.Duration(f.round) * time.Minute) }

func (f *rentedCluster) submit(id job.ID, class job.Class) {
	j := &policy.Job{Spec: &job.Spec{ID: id, Class: class, GPUs: 1, Adaptivity: job.Adaptive, Target: 1e9}}
	j.Phase, j.Submitted, j.Since = job.Waiting, f.now(), f.now()
	f.jobs = append(f.jobs, j)
}

func (f *rentedCluster) change(id job.ID, change func(*policy.Job)) {
	i := slices.IndexFunc(f.jobs, func(j *policy.Job) bool { return j.ID == id })
	row := *f.jobs[i]
	change(&row)
	f.jobs[i] = &row
}

func (f *rentedCluster) end(id job.ID) {
	f.jobs = slices.DeleteFunc(f.jobs, func(j *policy.Job) bool { return j.ID == id })
}

func (f *rentedCluster) snapshot() *policy.Snapshot {
	var nodes []cluster.Node
	for _, id := range f.ready {
		nodes = append(nodes, f.node(id))
	}
	c, err := cluster.New(nodes)
	if err != nil {
		f.t.Fatal(err)
	}
	offer := cluster.Offer{Group: "t4-4", Node: f.node(""), Most: f.most}
	return &policy.Snapshot{
		Now: f.now(), Round: f.round, Length: time.Minute, Cluster: c, Jobs: slices.Clone(f.jobs), Classes: f.classes, Computed: f.computed,
		Rentals: []cluster.Rental{{Offer: offer, Ready: len(f.ready), Starting: len(f.starting)}},
	}
}

// play plans a round, checks the plan, carries it out, and lets a minute pass.
func (f *rentedCluster) play() *policy.Plan {
	f.t.Helper()
	s := f.snapshot()
	plan, err := f.p.Plan(f.t.Context(), s)
	if err == nil {
		err = policy.Check(s, plan)
	}
	if err != nil {
		f.t.Fatalf("round %d: %v", f.round, err)
	}
	f.computed = nil
	if plan.Background != nil {
		f.computed = plan.Background.Do(f.t.Context())
	}
	for i, j := range s.Jobs {
		f.carryOut(j, &plan.Jobs[i])
	}
	f.rent(plan)
	f.round++
	return plan
}

func (f *rentedCluster) carryOut(j *policy.Job, d *policy.Decision) {
	if d.Allocation == j.Allocation && d.Placement.Equal(j.Placement) {
		return
	}
	if !d.Allocation.IsZero() {
		f.moves[j.ID]++
	}
	f.change(j.ID, func(row *policy.Job) {
		row.Allocation, row.Placement, row.Since, row.Phase = d.Allocation, d.Placement, f.now(), job.Running
		if d.Allocation.IsZero() {
			row.Phase = job.Waiting
		}
	})
}

// rent lets nodes come and go.
func (f *rentedCluster) rent(plan *policy.Plan) {
	used := map[cluster.NodeID]bool{}
	for _, d := range plan.Jobs {
		for _, s := range d.Placement {
			used[s.Node] = true
		}
	}
	want := plan.Capacity["t4-4"]
	f.starting = f.starting[:min(len(f.starting), max(0, want-len(f.ready)))]
	for i := len(f.ready) - 1; i >= 0 && len(f.ready) > want; i-- {
		if !used[f.ready[i]] {
			f.ready = slices.Delete(f.ready, i, i+1)
		}
	}
	for i := range f.starting {
		f.starting[i]--
	}
	for len(f.starting) > 0 && f.starting[0] <= 0 {
		f.named++
		f.ready, f.starting = append(f.ready, cluster.NodeID(fmt.Sprintf("n%02d", f.named))), f.starting[1:]
	}
	for len(f.ready)+len(f.starting) < want {
		f.starting = append(f.starting, 1)
	}
}

func (f *rentedCluster) of(plan *policy.Plan, id job.ID) *policy.Decision {
	for i := range f.jobs {
		if f.jobs[i].ID == id {
			return &plan.Jobs[i]
		}
	}
	f.t.Fatalf("no job %s", id)
	return nil
}

// stats returns a class whose jobs are as fast on so many GPUs as they are many, up to so
// many by epoch, and do not run on more; an epoch takes a day on one GPU.
func stats(class job.Class, widths ...int) *perf.ClassStats {
	s := &perf.ClassStats{Class: class, Rate: 1e-5}
	for range widths {
		s.Sizes = append(s.Sizes, 86400)
	}
	s.Speeds = perf.EpochSpeed(func(epoch int, c cluster.Configuration) float64 {
		if c.GPUs > widths[epoch] {
			return 0
		}
		return float64(c.GPUs)
	})
	return s
}

// unlimited is BOA without a budget: widths are the fastest.
func unlimited(t testing.TB) policy.Policy {
	p, err := boa.New(boa.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	return p
}
