package boa_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/boa"
)

// crowd returns a snapshot of n jobs of 100 classes with 100 epochs each, all of which
// have the width of their epoch but one in a hundred, which has just come; and the policy
// that they run under.
func crowd(b *testing.B, n int) (policy.Policy, *policy.Snapshot) {
	b.Helper()
	var classes []*perf.ClassStats
	for i := range 100 {
		c := &perf.ClassStats{Class: job.Class(fmt.Sprintf("c%02d", i)), Rate: 1e-3, Restart: time.Minute}
		for range 100 {
			c.Sizes = append(c.Sizes, 3600)
		}
		c.Speeds = perf.EpochSpeed(func(epoch int, at cluster.Configuration) float64 {
			k := float64(at.GPUs)
			return k / (1 + k/float64(4+i%8+epoch/10))
		})
		classes = append(classes, c)
	}
	o := boa.DefaultOptions()
	o.Budget = 100 * float64(n)
	p, err := boa.New(o)
	if err != nil {
		b.Fatal(err)
	}
	f := newRentedCluster(b, p, 5*n, classes...)
	submit := func(i int) { f.submit(job.ID(fmt.Sprintf("j%05d", i)), classes[i%100].Class) }
	for i := range n - n/100 {
		submit(i)
	}
	for range 3 {
		f.play()
	}
	for i := n - n/100; i < n; i++ {
		submit(i)
	}
	return p, f.snapshot()
}

// BenchmarkRound is a round of 10,000 jobs, of which 100 are new.
func BenchmarkRound(b *testing.B) {
	p, s := crowd(b, 10000)
	for b.Loop() {
		if _, err := p.Plan(b.Context(), s); err != nil {
			b.Fatal(err)
		}
	}
}
