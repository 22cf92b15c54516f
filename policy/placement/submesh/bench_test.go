package submesh_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/oxgang/oxgang/internal/rng"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/placement/submesh"
)

// BenchmarkPlace places rounds of 500 jobs on 3,520 GPUs.
func BenchmarkPlace(b *testing.B) {
	sizes := make([]int, 440)
	for i := range sizes {
		sizes[i] = 8
	}
	c, r := nodes(b, sizes...), rng.Stream(1, "bench")
	steady := running(b, c, func(int) int { return 1 << r.IntN(4) })
	crumbs := running(b, c, func(i int) int { return 5 - i/439*4 }) // no node is idle, all have room
	for _, bench := range []struct {
		name   string
		s      *policy.Snapshot
		change func(k int, j *policy.Job)
	}{
		{"unchanged", steady, func(int, *policy.Job) {}},
		{"one started", steady, func(k int, j *policy.Job) {
			if k == 250 {
				*j = policy.Job{Spec: j.Spec}
			}
		}},
		{"two nodes cleared", crumbs, func(k int, j *policy.Job) {
			if k == 439 {
				*j = policy.Job{Spec: j.Spec}
				j.Allocation.Configuration = config(2, 16)
			}
		}},
		{"all started", steady, func(_ int, j *policy.Job) { *j = policy.Job{Spec: j.Spec} }},
	} {
		b.Run(fmt.Sprintf("gpus=3520/jobs=%d/%s", len(bench.s.Jobs), bench.name), func(b *testing.B) {
			run(b, bench.s, bench.change)
		})
	}
}

// run places, again and again, the round in which jobs want what they have in
// s, but for those that change makes otherwise. A job that change leaves
// without a placement waits for its allocation.
func run(b *testing.B, s *policy.Snapshot, change func(k int, j *policy.Job)) {
	now, p := *s, &policy.Plan{Jobs: make([]policy.Decision, len(s.Jobs))}
	now.Jobs = slices.Clone(s.Jobs)
	for k, j := range s.Jobs {
		row := *j
		change(k, &row)
		p.Jobs[k].Allocation = row.Allocation
		if row.Allocation.IsZero() {
			p.Jobs[k].Allocation = j.Allocation
		}
		if row.Placement == nil {
			row.Allocation = cluster.Allocation{}
		}
		now.Jobs[k] = &row
	}
	pl, asked := submesh.New(submesh.DefaultOptions()), slices.Clone(p.Jobs)
	b.ReportAllocs()
	for b.Loop() {
		copy(p.Jobs, asked)
		if _, err := pl.Place(b.Context(), &now, p); err != nil {
			b.Fatal(err)
		}
	}
}

// running returns a full cluster of at most 500 running jobs.
func running(b *testing.B, c *cluster.Cluster, gpus func(i int) int) *policy.Snapshot {
	s, p := &policy.Snapshot{Cluster: c}, &policy.Plan{}
	for i, free := 0, c.GPUs(); i < 500; i++ {
		j := &policy.Job{Spec: &job.Spec{ID: job.ID(fmt.Sprint("j", i))}}
		j.Phase = job.Running
		j.Allocation.Configuration = config(1, gpus(i))
		if free -= j.Allocation.GPUs; free < 0 {
			break
		}
		s.Jobs = append(s.Jobs, j)
		p.Jobs = append(p.Jobs, policy.Decision{Allocation: j.Allocation})
	}
	p = place(b, submesh.New(submesh.DefaultOptions()), s, p)
	for i, j := range s.Jobs {
		j.Placement = p.Jobs[i].Placement
	}
	return s
}
