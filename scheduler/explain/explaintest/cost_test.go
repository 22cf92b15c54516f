package explaintest

import (
	"math"
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler/explain"
	"github.com/oxgang/oxgang/scheduler/explain/counterfactual"
)

// BenchmarkFind measures one explanation in the busiest round of a run, whose policy was copied in
// that round. It reports the plans that it took, and what a copy takes beside the round itself.
func BenchmarkFind(b *testing.B) {
	for _, name := range []string{"oxgang", "sia", "srtf", "gavel", "shockwave", "synergy"} {
		b.Run(name, func(b *testing.B) {
			r := simulate(b, name, "overload", "1")
			k, id := r.busiest()
			p, _, err := r.remake.Fresh()
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			rec := counterfactual.NewRecorder(p, r.remake.Fresh, 1)
			var all time.Duration
			for _, x := range r.all[:k+1] {
				began := time.Now()
				if _, err := rec.Plan(b.Context(), x.s); err != nil {
					b.Fatal(err)
				}
				all += time.Since(began)
			}
			s, d, err := rec.At(b.Context(), r.all[k].s.Now)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				c, err := counterfactual.Find(b.Context(), s, r.all[k].p, id, d, nil)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(c.Plans), "plans")
			}
			b.ReportMetric(float64(all.Microseconds())/float64(k+1), "µs/copied-round")
		})
	}
}

// BenchmarkNow measures reasons of a round of 10,000 jobs on 10,000 GPUs, against the policy and the placer of the same
// round: what the round pays for them, that of one job, asked for, and those of all, in words.
func BenchmarkNow(b *testing.B) {
	for _, name := range []string{"oxgang", "sia", "fifo", "srtf"} {
		r := simulate(b, name, "large", "1")
		k, last := r.busiest()
		took := r.timed(b, k)
		x := r.all[k]
		for what, asked := range map[string][]*policy.Job{"none": nil, "one": {x.s.Job(last)}, "all": x.s.Jobs} {
			b.Run(name+"/"+what, func(b *testing.B) {
				for b.Loop() {
					why := explain.Now(x.s, x.p)
					for _, j := range asked {
						why.Text(j.ID)
					}
				}
				b.ReportMetric(float64(took.Microseconds())/1000, "ms/round")
				b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(took), "rounds/op")
			})
		}
	}
}

// timed returns how long policy and placer take for round k, the least of three times that they are shown all rounds up to it.
func (r *run) timed(b *testing.B, k int) time.Duration {
	b.Helper()
	least := time.Duration(math.MaxInt64)
	for range 3 {
		p, placer, err := r.remake.Fresh()
		if err != nil {
			b.Fatal(err)
		}
		var round time.Duration
		for _, x := range r.all[:k+1] {
			began := time.Now()
			if _, err := plan(b.Context(), p, placer, x.s); err != nil {
				b.Fatal(err)
			}
			round = time.Since(began)
		}
		least = min(least, round)
	}
	return least
}

func (r *run) busiest() (at int, last job.ID) {
	most := 0
	for k, x := range r.all {
		n, id := 0, job.ID("")
		for i, j := range x.s.Jobs {
			if x.p.Jobs[i].Allocation.IsZero() && j.Phase != job.Profiling {
				n, id = n+1, j.ID
			}
		}
		if n > most {
			most, at, last = n, k, id
		}
	}
	return at, last
}
