package explaintest

import (
	"testing"
	"time"

	"github.com/oxgang/oxgang/explain"
	"github.com/oxgang/oxgang/explain/counterfactual"
	"github.com/oxgang/oxgang/job"
)

// BenchmarkFind measures one explanation in the busiest round of a run, whose policy was copied in
// that round. It reports the plans that it took, and what a copy takes beside the round itself.
func BenchmarkFind(b *testing.B) {
	for _, name := range []string{"oxgang", "sia", "srtf", "gavel", "shockwave", "synergy"} {
		b.Run(name, func(b *testing.B) {
			r := simulate(b, name, "overload", "1")
			k, id := r.busiest()
			p, placer, err := r.remake.Fresh()
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			rec := counterfactual.NewRecorder(p, placer, 1)
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
				b.ReportMetric(float64(c.Asked), "plans")
			}
			b.ReportMetric(float64(all.Microseconds())/float64(k+1), "µs/copied-round")
		})
	}
}

// BenchmarkNow measures the reasons, in words, of all 10,000 jobs of a round on 10,000 GPUs, against the
// policy and the placer of the same round.
func BenchmarkNow(b *testing.B) {
	for _, name := range []string{"oxgang", "sia", "fifo", "srtf"} {
		b.Run(name, func(b *testing.B) {
			r := simulate(b, name, "large", "1")
			k, _ := r.busiest()
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
			x := r.all[k]
			for b.Loop() {
				explain.Now(x.s, x.p)
			}
			b.ReportMetric(float64(len(x.s.Jobs)), "jobs")
			b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(round), "rounds/op")
		})
	}
}

// busiest returns the round in which most jobs wait, and the last of them.
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
