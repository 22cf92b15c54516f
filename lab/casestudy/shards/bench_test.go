package shards

import (
	"fmt"
	"testing"

	"github.com/oxgang/oxgang/opt/exact"
	"github.com/oxgang/oxgang/opt/lp"
)

// BenchmarkRound measures a round after the first, with edits and shim. The
// sizes are the thesis' two and a smaller one.
func BenchmarkRound(b *testing.B) {
	for _, size := range [][2]int{{256, 32}, {1024, 128}, {2048, 256}} {
		for _, method := range []string{"heuristic", "lp-relaxed", "copter"} {
			b.Run(fmt.Sprintf("shards=%d/servers=%d/method=%s", size[0], size[1], method), func(b *testing.B) {
				benchmarkRound(b, size[0], size[1], method)
			})
		}
	}
}

func benchmarkRound(b *testing.B, d, n int, method string) {
	spec := DefaultSpec()
	spec.Shards, spec.Servers, spec.Drift = d, n, Stateful
	w, err := newWorkload(spec)
	if err != nil {
		b.Fatal(err)
	}
	m, err := NewMethod(method, 1, nil)
	if err != nil {
		b.Skip(err)
	}
	now, moved := w.Start(), 0
	round := func() {
		in := w.Next()
		in.now = now
		r, err := m.Balance(b.Context(), in)
		if err != nil {
			b.Fatal(err)
		}
		moved += now.Movements(r.assignment)
		now = r.assignment
	}
	round()
	moved = 0
	for b.Loop() {
		round()
	}
	b.ReportMetric(float64(moved)/float64(b.N), "movements/round")
}

// BenchmarkForm compares the two forms of the relaxation, in R and X as the
// thesis states it and in R alone, in HiGHS' simplex.
func BenchmarkForm(b *testing.B) {
	if !exact.Available {
		b.Skip(exact.ErrUnavailable)
	}
	solver, err := exactSolver(0)
	if err != nil {
		b.Fatal(err)
	}
	for _, size := range [][2]int{{256, 32}, {512, 64}, {1024, 128}} {
		spec := DefaultSpec()
		spec.Shards, spec.Servers = size[0], size[1]
		w, err := newWorkload(spec)
		if err != nil {
			b.Fatal(err)
		}
		in := w.Next()
		in.now = w.Start()
		f, err := newFull(in, false)
		if err != nil {
			b.Fatal(err)
		}
		r, err := newRelaxation(in)
		if err != nil {
			b.Fatal(err)
		}
		for form, p := range []*lp.Problem{&r.problem, &f.problem} {
			b.Run(fmt.Sprintf("shards=%d/form=%s", size[0], []string{"R", "RX"}[form]), func(b *testing.B) {
				objective := 0.0
				for b.Loop() {
					s, err := solver.Solve(b.Context(), p)
					if err != nil {
						b.Fatal(err)
					}
					objective = s.Objective
				}
				b.ReportMetric(objective, "cost")
				b.ReportMetric(float64(p.Cols()), "columns")
			})
		}
	}
}
