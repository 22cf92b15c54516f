package multifactor_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/oxgang/oxgang/internal/draws"
	"github.com/oxgang/oxgang/internal/rng"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/multifactor"
)

// TestPlan_remembers_right: a policy that has seen earlier rounds plans as one that sees the cluster for the first time, also
// where jobs end, are stopped, and come in between, and rounds are left out.
func TestPlan_remembers_right(t *testing.T) {
	seed := draws.Seed(t)
	r := rng.Stream(seed, "rounds")
	o := multifactor.DefaultOptions()
	o.Interval = time.Nanosecond // both backfill in each round
	kept, err := multifactor.New(o)
	if err != nil {
		t.Fatal(err)
	}
	c, now, started := nodes(t, 6), start, 0
	var jobs []*policy.Job
	for round := range 400 {
		now = now.Add(time.Duration(1+r.IntN(90)) * time.Second)
		jobs = append(leave(r, jobs), come(r, round, now)...)
		s := &policy.Snapshot{Now: now, Length: time.Minute, Cluster: c, Jobs: jobs}
		fresh, err := multifactor.New(o)
		if err != nil {
			t.Fatal(err)
		}
		got, err := kept.Plan(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		want, err := fresh.Plan(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		for i := range jobs {
			if g, w := &got.Jobs[i], &want.Jobs[i]; g.Allocation != w.Allocation || !slices.Equal(g.Placement, w.Placement) {
				t.Fatalf("seed %d, round %d: %s is granted %v on %v, want %v on %v", seed, round, jobs[i].ID, g.Allocation, g.Placement, w.Allocation, w.Placement)
			}
		}
		jobs, started = carriedOut(jobs, got, now, started)
	}
	if started < 100 {
		t.Errorf("seed %d: %d jobs started, too few to show anything", seed, started)
	}
}

// leave takes away one of ten jobs that run, and stops one of fifty.
func leave(r *rand.Rand, jobs []*policy.Job) []*policy.Job {
	var left []*policy.Job
	for _, j := range jobs {
		switch {
		case j.Holding() && r.IntN(10) == 0:
			continue
		case j.Holding() && r.IntN(50) == 0:
			j = waits(string(j.ID), j.GPUs, j.WorkerGPUs, limitOf(j))
		}
		left = append(left, j)
	}
	return left
}

func limitOf(j *policy.Job) time.Duration { return time.Duration(j.Target * float64(time.Second)) }

// come returns jobs that come in a round: none to two.
func come(r *rand.Rand, round int, now time.Time) []*policy.Job {
	var jobs []*policy.Job
	for k := range r.IntN(3) {
		worker := 1 + r.IntN(4)
		j := waits(fmt.Sprintf("j%d-%d", round, k), worker*(1+r.IntN(2)), worker, time.Duration(1+r.IntN(20))*time.Minute)
		j.Submitted, j.Since = now, now
		jobs = append(jobs, j)
	}
	return jobs
}

// carriedOut returns the jobs after a plan: those that start have rows of their own, in their old places.
func carriedOut(jobs []*policy.Job, p *policy.Plan, now time.Time, started int) ([]*policy.Job, int) {
	next := make([]*policy.Job, len(jobs))
	for i, j := range jobs {
		next[i] = j
		if d := &p.Jobs[i]; !j.Holding() && !d.Allocation.IsZero() {
			row := *j
			row.Phase, row.Since = job.Running, now
			row.Allocation, row.Placement = d.Allocation, append(cluster.Placement(nil), d.Placement...)
			next[i] = &row
			started++
		}
	}
	return next, started
}
