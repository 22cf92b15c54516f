package boa

import (
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/policy"
)

// BenchmarkLookup is what 10,000 running jobs are to have: class, epoch, table, width and
// time left. The paper: 0.146 ms in the mean for the jobs of its cluster (§5.4).
func BenchmarkLookup(b *testing.B) {
	stats := &perf.ClassStats{Class: "a", Rate: 1, Restart: time.Minute, Sizes: []float64{1, 2, 3}, Speeds: perf.EpochSpeed(func(_ int, c cluster.Configuration) float64 { return float64(c.GPUs) })}
	p, err := New(DefaultOptions())
	if err != nil {
		b.Fatal(err)
	}
	offers := []cluster.Offer{{Group: "t4", Node: cluster.Node{GPUType: "t4", Capacity: cluster.Resources{GPUs: 4}}, Most: 100}}
	if p.widths, err = compute(&inputs{[]*perf.ClassStats{stats}, offers, 1e3, 1}, &p.o); err != nil {
		b.Fatal(err)
	}
	s := &policy.Snapshot{}
	for i := range 10000 {
		j := &policy.Job{Spec: &job.Spec{ID: job.ID(time.Duration(i).String()), Class: "a", Adaptivity: job.Adaptive}}
		j.Epoch, j.Progress = i%3, float64(i%3)
		g := p.goal(j, offers, []int{1})
		j.Allocation = cluster.Allocation{Configuration: g.Configuration}
		s.Jobs = append(s.Jobs, j)
	}
	b.ResetTimer()
	for b.Loop() {
		for _, j := range s.Jobs {
			if g := p.goal(j, offers, []int{1}); !g.stay {
				b.Fatal("a job is to move")
			}
		}
	}
}
