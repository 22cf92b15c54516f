package mmkp_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/oxgang/oxgang/internal/rng"
	"github.com/oxgang/oxgang/opt/exact"
	"github.com/oxgang/oxgang/opt/mmkp"
)

// shaped returns a program of Sia's shape: gpus GPUs in nodes of 8, shared by
// the given number of types, and jobs whose goodput has a parallel fraction of
// their own, raised to p = -0.5 and rounded to two decimals as the public
// simulator does.
func shaped(gpus, types, jobs int) *mmkp.Problem {
	random := rng.Stream(1, fmt.Sprintf("shaped/%d/%d/%d", gpus, types, jobs))
	p := &mmkp.Problem{Items: make([]mmkp.Item, jobs)}
	for k := range types {
		p.Capacity = append(p.Capacity, float64(gpus/8/types*8))
		if k == 0 {
			p.Capacity[0] += float64(gpus - gpus/8/types*8*types)
		}
	}
	for i := range p.Items {
		serial := math.Exp(-5 + 3*random.Float64())
		for k := range p.Capacity {
			speed := math.Exp(2 * random.Float64())
			for _, n := range []float64{1, 2, 4, 8, 16, 24, 32, 40, 48, 56, 64, 72, 80, 88, 96, 104, 112, 120, 128} {
				goodput := speed * n / (1 + serial*(n-1))
				value := 1.1 - math.Round(100*math.Pow(goodput, -0.5))/100
				if n > p.Capacity[k] || value <= 0 {
					continue
				}
				p.Items[i].Choices = append(p.Items[i].Choices, mmkp.Choice{Value: value, Use: mmkp.Use{Resource: k, Amount: n}})
			}
		}
	}
	return p
}

func BenchmarkSolve(b *testing.B) {
	for _, size := range []struct{ gpus, types, jobs int }{{64, 3, 20}, {512, 3, 120}, {2_048, 7, 300}, {10_000, 7, 1_400}} {
		p := shaped(size.gpus, size.types, size.jobs)
		b.Run(fmt.Sprintf("gpus=%d", size.gpus), func(b *testing.B) { solve(b, p, false) })
		b.Run(fmt.Sprintf("warm/gpus=%d", size.gpus), func(b *testing.B) { solve(b, p, true) })
	}
}

// solve measures one program, from nothing or from its own prices.
func solve(b *testing.B, p *mmkp.Problem, warm bool) {
	solver := mmkp.NewSolver()
	var start []float64
	s, err := solver.Solve(b.Context(), p, start, mmkp.DefaultOptions())
	if err != nil {
		b.Fatal(err)
	}
	if warm {
		start = append(start, s.Prices...)
	}
	b.ReportAllocs()
	for b.Loop() {
		if s, err = solver.Solve(b.Context(), p, start, mmkp.DefaultOptions()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(s.Gap, "gap")
	b.ReportMetric(float64(s.Iterations), "steps")
	b.ReportMetric(float64(s.Nodes), "nodes")
}

func BenchmarkSolveRecorded(b *testing.B) {
	solver := mmkp.NewSolver()
	for _, r := range readRecorded(b) {
		p := r.problem()
		b.Run(fmt.Sprintf("round=%d/jobs=%d", r.Round, len(p.Items)), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := solver.Solve(b.Context(), p, nil, mmkp.DefaultOptions()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkExactRecorded(b *testing.B) {
	if !exact.Available {
		b.Skip(exact.ErrUnavailable)
	}
	for _, r := range readRecorded(b) {
		p := r.problem()
		b.Run(fmt.Sprintf("round=%d/jobs=%d", r.Round, len(p.Items)), func(b *testing.B) {
			for b.Loop() {
				if _, err := exact.Solve(b.Context(), p); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Every choice uses several of many resources, and a tenth of the rows change.
func BenchmarkTangled(b *testing.B) {
	p := tangled(300, 50, 20)
	w := newChecked(b, p.Capacity)
	for _, it := range p.Items {
		w.add(b, it)
	}
	var s *mmkp.Solution
	for n := 0; b.Loop(); n++ {
		for i := n % 10; i < len(p.Items); i += 10 {
			if err := w.program.Set(w.ids[i], p.Items[(i+n)%len(p.Items)]); err != nil {
				b.Fatal(err)
			}
		}
		var err error
		if s, err = w.program.Solve(b.Context(), mmkp.DefaultOptions()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(s.Gap, "gap")
	b.ReportMetric(float64(s.Iterations), "steps")
	b.ReportMetric(float64(s.Nodes), "nodes")
}
