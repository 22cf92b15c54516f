package synergy_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/oxgang/oxgang/internal/rng"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/opt/exact"
	"github.com/oxgang/oxgang/opt/mmkp"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/placement/pack"
)

// BenchmarkRound is a round in which one job in a hundred is another than in the
// last: the policy alone, or with the placer.
func BenchmarkRound(b *testing.B) {
	for _, size := range []struct {
		nodes int
		multi bool
		of    split
	}{{16, false, split{20, 70, 10}}, {16, false, split{33, 33, 34}}, {1250, true, split{20, 70, 10}}, {1250, true, split{33, 33, 34}}} {
		for _, placed := range []bool{false, true} {
			b.Run(fmt.Sprintf("gpus=%d/split=%d-%d-%d/placed=%v", 8*size.nodes, size.of[0], size.of[1], size.of[2], placed), func(b *testing.B) {
				placer, err := pack.New(pack.DefaultOptions())
				if err != nil {
					b.Fatal(err)
				}
				p := fresh(b, nil)
				s, r := draw(b, 1, servers(b, size.nodes, 24), size.of, size.multi), rng.Stream(2, "bench")
				s.Jobs = s.Jobs[:min(len(s.Jobs), 5000)]
				plan := placeBy(b, placer, s, mustPlan(b, p, s))
				gap := 0.0
				for b.Loop() {
					b.StopTimer()
					s = follow(s, plan)
					replace(b, s, r, size.of, len(s.Jobs)/100)
					b.StartTimer()
					plan = mustPlan(b, p, s)
					gap = max(gap, plan.Stats.Gap)
					if !placed {
						b.StopTimer()
					}
					plan = placeBy(b, placer, s, plan)
					b.StartTimer()
				}
				b.ReportMetric(gap, "gap")
				b.ReportMetric(float64(len(s.Jobs)), "jobs")
			})
		}
	}
}

// BenchmarkOpt plans rounds of 128 GPUs, in which one job in a hundred is another
// than in the last, beside branch and cut on the program as it is published: "within
// 10% of the optimal value, 200x faster". Source: Synergy §5.6.
func BenchmarkOpt(b *testing.B) {
	if !exact.Available {
		b.Skip(exact.ErrUnavailable)
	}
	for _, of := range []split{{33, 33, 34}, {30, 60, 10}, {60, 30, 10}} {
		b.Run(fmt.Sprintf("split=%d-%d-%d", of[0], of[1], of[2]), func(b *testing.B) {
			s := draw(b, 1, servers(b, 16, 24), of, false)
			p, r := fresh(b, nil), rng.Stream(2, "bench")
			plan := mustPlan(b, p, s)
			var ours, theirs []time.Duration
			below := -1.0
			for b.Loop() {
				s = follow(s, plan)
				replace(b, s, r, of, len(s.Jobs)/100)
				start := time.Now()
				plan = mustPlan(b, p, s)
				ours = append(ours, time.Since(start))
				whole := published(s, plan)
				start = time.Now()
				best, err := exact.Solve(b.Context(), whole)
				if err != nil {
					b.Fatal(err)
				}
				theirs = append(theirs, time.Since(start))
				below = max(below, 1-plan.Stats.Objective/best.Value)
			}
			b.ReportMetric(float64(median(theirs))/float64(median(ours)), "times-faster")
			b.ReportMetric(below, "worst-below")
			b.ReportMetric(median(ours).Seconds()*1e3, "ours-ms")
		})
	}
}

// median is of times, which it sorts: others may use the machine.
func median(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/2]
}

// published returns the program (1) to (5) of the jobs that run: every cell of a
// matrix of 9 numbers of CPUs and 5 of memory in which a job is no slower than with
// its share. Source: Synergy §4.1.1; the axes of the public profiles.
func published(s *policy.Snapshot, plan *policy.Plan) *mmkp.Problem {
	p := &mmkp.Problem{}
	for _, t := range s.Cluster.Types() {
		p.Capacity = append(p.Capacity, t.CPUs, float64(t.Memory)/1e9)
	}
	for i, j := range s.Jobs {
		a := plan.Jobs[i].Allocation
		if a.GPUs == 0 {
			continue
		}
		it := mmkp.Item{Must: true}
		fair := proportional(s, j, a.Configuration)
		for _, cpus := range []float64{1, 2, 3, 4, 5, 6, 9, 12, 24} {
			for _, memory := range []float64{20.833333333, 62.5, 125, 187.5, 250} {
				a.CPUs, a.Memory = cpus, int64(memory*1e9)
				if w := j.Perf.Throughput(a, job.BatchSize{Local: 1}) / fair; w >= 1 {
					it.Choices = append(it.Choices, mmkp.Choice{
						Value: w, Use: mmkp.Use{Resource: 0, Amount: cpus}, More: []mmkp.Use{{Resource: 1, Amount: memory}},
					})
				}
			}
		}
		p.Items = append(p.Items, it)
	}
	return p
}

func mustPlan(t testing.TB, p policy.Policy, s *policy.Snapshot) *policy.Plan {
	t.Helper()
	plan, err := p.Plan(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}
