package pollux_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/policytest"
	"github.com/oxgang/oxgang/policy/rivals/pollux"
)

// BenchmarkRound plans rounds of the thesis' cluster, in each of which a job leaves and
// another comes, for which nothing is believed yet.
func BenchmarkRound(b *testing.B) {
	for _, jobs := range []int{5, 40} {
		b.Run(fmt.Sprintf("policy=pollux/gpus=64/jobs=%d", jobs), func(b *testing.B) {
			s := snapshot(clusterOf(b, shape{"t4", 6, 4}, shape{"rtx", 3, 8}, shape{"a100", 2, 8}))
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

// BenchmarkAutoscale makes one decision about the size of BOA's cluster of up to 40 nodes of
// 4 GPUs, of which some are there, too few or too many for 40 jobs.
// Source: BOA §5.4, where a round of Pollux takes 4.39 s and one with autoscaling 23.58 s.
func BenchmarkAutoscale(b *testing.B) {
	for _, ready := range []int{20, 40} {
		b.Run(fmt.Sprintf("policy=pollux-autoscale/gpus=%d/jobs=40", 4*ready), func(b *testing.B) {
			s, wanted := rented(b, ready), 0
			for i := range 40 {
				s.Jobs = append(s.Jobs, scaling(i))
			}
			for p, n := fresh(b, nil), 0; n < 5; n++ {
				s = with(b, ready, s, mustPlan(b, p, s))
			}
			for b.Loop() {
				a := autoscaler(b, func(o *pollux.AutoscaleOptions) { o.Target, o.Cycles, o.Patience = 0.935, 1, 0 })
				wanted = mustPlan(b, a, s).Capacity["spot"]
			}
			b.ReportMetric(float64(wanted), "nodes")
		})
	}
}

// scaling returns a job that scales more or less well.
func scaling(i int) *policy.Job {
	m := &policytest.Model{Phi: 1000 * float64(1+i%7), Init: 64, Params: make(map[cluster.GPUType]perf.Params)}
	for _, t := range []cluster.GPUType{"t4", "rtx", "a100", "v100"} {
		sync := 0.05 * float64(i%5)
		m.Params[t] = perf.Params{AlphaC: 0.02, BetaC: 0.005, AlphaN: 2 * sync, BetaN: 0.1 * sync, AlphaR: sync, BetaR: 0.01 * sync, Gamma: 2}
	}
	return waiting(job.ID(fmt.Sprintf("job-%06d", i)), m)
}
