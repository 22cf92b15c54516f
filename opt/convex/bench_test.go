package convex_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/oxgang/oxgang/opt/convex"
)

// stressed returns classes whose speedups are Amdahl's times a noise that makes
// them neither monotone nor concave, on kinds of different speeds and prices.
func stressed(classes, epochs, kinds, widths int) *convex.Problem {
	random := rand.New(rand.NewPCG(1, 1))
	p := &convex.Problem{Classes: make([]convex.Class, classes)}
	for kind := range kinds {
		p.Prices = append(p.Prices, math.Pow(3, float64(kind)))
	}
	for i := range p.Classes {
		c := &p.Classes[i]
		c.Rate, c.Rescale = 0.001*(1+random.Float64()), 30+90*random.Float64()
		for range epochs {
			e := convex.Epoch{Size: 50 + 100*random.Float64()}
			serial := math.Exp(-5 + 3*random.Float64())
			for kind := range kinds {
				speed := math.Pow(2.5, float64(kind)) * (0.7 + 0.6*random.Float64())
				for k := 1; k <= widths; k++ {
					noise := 1 + 0.1*random.Float64()
					e.Points = append(e.Points, convex.Point{Kind: kind, Width: k, Speed: noise * speed * float64(k) / (1 + serial*float64(k-1))})
				}
			}
			c.Epochs = append(c.Epochs, e)
		}
	}
	return p
}

// middle returns a budget between the least and the largest useful one.
func middle(b *testing.B, p *convex.Problem) float64 {
	f := frontier(b, p)
	return 0.7*f.Least + 0.3*f.Most
}

func BenchmarkSolve(b *testing.B) {
	b.Run("stream=sim/epochs=182/widths=64", func(b *testing.B) { benchmarkSolve(b, readGolden(b).sim(b)) })
	for _, n := range []struct{ classes, epochs, kinds, widths int }{{3, 61, 1, 64}, {20, 100, 3, 64}, {100, 100, 1, 64}} {
		b.Run(fmt.Sprintf("epochs=%d/kinds=%d/widths=%d", n.classes*n.epochs, n.kinds, n.widths), func(b *testing.B) {
			benchmarkSolve(b, stressed(n.classes, n.epochs, n.kinds, n.widths))
		})
	}
}

// benchmarkSolve measures everything from the points to the widths.
func benchmarkSolve(b *testing.B, p *convex.Problem) {
	budget := middle(b, p)
	b.ReportAllocs()
	for b.Loop() {
		solve(b, p, budget)
	}
}

func BenchmarkMixture(b *testing.B) {
	b.Run("stream=sim/epochs=182/widths=64", func(b *testing.B) { benchmarkMixture(b, readGolden(b).sim(b)) })
	b.Run("epochs=10000/widths=64", func(b *testing.B) { benchmarkMixture(b, stressed(100, 100, 1, 64)) })
}

func benchmarkMixture(b *testing.B, p *convex.Problem) {
	budget := middle(b, p)
	steps := 0
	b.ReportAllocs()
	for b.Loop() {
		steps = mixture(b, p, budget).Steps
	}
	b.ReportMetric(float64(steps), "paths")
}

func BenchmarkMixtureFrontier(b *testing.B) {
	p := readGolden(b).sim(b)
	points := 0
	for b.Loop() {
		all, err := p.MixtureFrontier()
		if err != nil {
			b.Fatal(err)
		}
		points = len(all)
	}
	b.ReportMetric(float64(points), "breakpoints")
}

func BenchmarkWidthCalculator(b *testing.B) {
	p := readGolden(b).sim(b)
	for b.Loop() {
		if _, err := convex.DefaultWidthCalculator().Plan(p, 112, rand.New(rand.NewPCG(1, 1))); err != nil {
			b.Fatal(err)
		}
	}
}
