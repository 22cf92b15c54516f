package monitor

import (
	"fmt"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
)

// BenchmarkRound is what watching costs a round.
func BenchmarkRound(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		b.Run(fmt.Sprintf("jobs=%d", n), func(b *testing.B) {
			m, err := New(prometheus.NewRegistry(), Options{})
			if err != nil {
				b.Fatal(err)
			}
			q, now := m.Queue("default", time.Minute, Source{}), time.Unix(1e9, 0)
			s := &policy.Snapshot{Now: now, Cluster: nodes(b, 20)}
			for i := range n {
				j := &policy.Job{Spec: gang(job.ID(fmt.Sprint(i)), 1), Perf: linear{}}
				j.Phase, j.Submitted = job.Running, now
				j.Allocation.Configuration = cluster.Configuration{Nodes: 1, GPUs: 1, GPUType: "h100"}
				s.Jobs = append(s.Jobs, j)
			}
			p := &policy.Plan{Jobs: make([]policy.Decision, n)}
			b.ReportAllocs()
			for b.Loop() {
				q.Round(s, p, nil)
			}
		})
	}
}
