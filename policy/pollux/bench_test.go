package pollux_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/perf"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/policytest"
)

// BenchmarkRound plans rounds of the thesis' cluster, in each of which a job leaves and
// another comes, for which nothing is believed yet.
func BenchmarkRound(b *testing.B) {
	for _, jobs := range []int{5, 40} {
		b.Run(fmt.Sprintf("policy=pollux/gpus=64/jobs=%d", jobs), func(b *testing.B) {
			s := snapshot(fleet(b, shape{"t4", 6, 4}, shape{"rtx", 3, 8}, shape{"a100", 2, 8}))
			for i := range jobs {
				s.Jobs = append(s.Jobs, scaling(i))
			}
			p, rounds := fresh(b, nil), 0
			for b.Loop() {
				s = next(s, mustPlan(b, p, s))
				rounds++
				s.Jobs[rounds%jobs] = scaling(jobs + rounds)
				s.Jobs[rounds%jobs].Submitted = s.Now.Add(-30 * time.Second)
			}
			b.ReportMetric(float64(rounds)/b.Elapsed().Seconds(), "rounds/s")
		})
	}
}

// scaling returns a job that scales more or less well.
func scaling(i int) *policy.Job {
	m := &policytest.Model{Phi: 1000 * float64(1+i%7), Init: 64, Params: make(map[cluster.GPUType]perf.Params)}
	for _, t := range []cluster.GPUType{"t4", "rtx", "a100"} {
		sync := 0.05 * float64(i%5)
		m.Params[t] = perf.Params{AlphaC: 0.02, BetaC: 0.005, AlphaN: 2 * sync, BetaN: 0.1 * sync, AlphaR: sync, BetaR: 0.01 * sync, Gamma: 2}
	}
	return waiting(job.ID(fmt.Sprintf("job-%06d", i)), m)
}
