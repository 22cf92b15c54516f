package rules

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/opt/barrier"
)

// golden is a program of 20 jobs on 5 GPUs: fractions between 0 and 1 in gangs of
// 1, 2 and 4, at 3, 10, 17, 24 and 31 steps a second.
func golden() *program {
	p := &program{Cost: make([]float64, 20)}
	capacity := row{Right: 5}
	for j := range p.Cost {
		p.Rows = append(p.Rows,
			row{Cols: []int{j}, Values: []float64{-1}},
			row{Cols: []int{j}, Values: []float64{1}, Right: 1})
		capacity.Cols, capacity.Values = append(capacity.Cols, j), append(capacity.Values, []float64{1, 2, 4}[j%3])
	}
	p.Rows = append(p.Rows, capacity)
	return p
}

func rate(j int) float64 { return float64(3 + 7*(j%5)) }

// deadline adds that every job ends within so many seconds.
func deadline(p *program, seconds float64) *program {
	for j := range p.Cost {
		left := float64(100*(1+j%7) + 900*(j%4))
		p.Rows = append(p.Rows, row{Cols: []int{j}, Values: []float64{-rate(j)}, Right: -left / seconds})
	}
	return p
}

// The solutions of ECOS 2.0.10, with its own settings.
func TestSolve_ends_where_ECOS_does(t *testing.T) {
	sum := golden()
	for j := range sum.Cost {
		sum.Cost[j] = -rate(j)
	}
	tests := []struct {
		name       string
		program    *program
		iterations int
		tolerance  float64
		want       []float64
	}{
		{"what ends within 2000 s", deadline(golden(), 2000), 8, 1e-9, []float64{
			0.053006226286494415, 0.06432214388813394, 0.0636693356941159, 0.10508894447770771, 0.03116081744877755,
			0.2585867387355815, 0.15305309870541756, 0.09221414520392616, 0.008807908742894261, 0.07229882349868183,
			0.3769938125475394, 0.16191585151105314, 0.06629458737878807, 0.048951372208882925, 0.0335572833041818,
			0.5016147901478948, 0.028954876272884848, 0.040196149646648756, 0.09140785716765724, 0.06854977659345343,
		}},
		{"what ends within 3000 s", deadline(golden(), 3000), 7, 1e-9, []float64{
			0.10884645722610146, 0.07434133358326427, 0.04727381194895549, 0.134045546155, 0.06233909189208106,
			0.18655803143354385, 0.1606083459949012, 0.09238056722674344, 0.01863456512648955, 0.11578770861997124,
			0.2677734635603447, 0.10976043485385205, 0.11400903435274966, 0.07069704028436541, 0.03354756754910401,
			0.3734613486298237, 0.0562462479349755, 0.03271590310569891, 0.1268341457079432, 0.08216189831402125,
		}},
		{"the greatest sum, and what is left of the others", sum, 8, 1e-13, []float64{
			-1.1882825408422769e-12, -7.68565953885627e-12, -1.5240526448219286e-11, 0.9999999999670603, 0.25000000005241757,
			-1.4886436845695206e-11, 3.856656444905233e-11, -1.489709223018448e-11, -5.918167719469941e-12, 0.9999999999759873,
			-1.6377280096898828e-11, -1.749875396986593e-11, 0.9999999999749237, 1.2752578055988998e-10, 1.0354275569827613e-11,
			-1.188282540841846e-12, -7.68565953885627e-12, -1.5240526448219286e-11, 0.9999999999670603, 0.25000000005241757,
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := solve(test.program)
			if !got.Converged || got.Iterations != test.iterations {
				t.Errorf("converged %v after %d iterations, want true after %d", got.Converged, got.Iterations, test.iterations)
			}
			for j, x := range got.X {
				if !(math.Abs(x-test.want[j]) <= test.tolerance) {
					t.Errorf("column %d: %.17g, want %.17g", j, x, test.want[j])
				}
			}
		})
	}
}

func TestSolve_without_a_solution(t *testing.T) {
	if s := solve(deadline(golden(), 1000)); s.Converged {
		t.Error("converged where nobody can end in time")
	}
}

// On programs that have an optimum, its value is that of another method.
func TestSolve_agrees_with_the_central_path(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "items")
		capacity := rapid.SampledFrom([]float64{1, 4, 30}).Draw(t, "capacity")
		g := barrier.Program{Capacity: []float64{capacity}}
		p := &program{}
		all := row{Right: capacity}
		for j := range n {
			size, gain := rapid.SampledFrom([]float64{1, 2, 8}).Draw(t, "size"), rapid.SampledFrom([]float64{1, 0.1, 30}).Draw(t, "gain")
			g.Items = append(g.Items, barrier.Item{Size: []float64{size}, Rate: []float64{1}, Gain: []float64{gain}})
			p.Cost = append(p.Cost, -gain)
			p.Rows = append(p.Rows, row{Cols: []int{j}, Values: []float64{-1}}, row{Cols: []int{j}, Values: []float64{1}, Right: 1})
			all.Cols, all.Values = append(all.Cols, j), append(all.Values, size)
		}
		p.Rows = append(p.Rows, all)
		want, got := g.Best(barrier.Settings{}), solve(p)
		if !got.Converged || math.Abs(got.Objective+want.Objective) > 1e-5*(1+want.Objective) {
			t.Fatalf("objective %v, converged %v, want %v", -got.Objective, got.Converged, want.Objective)
		}
	})
}

// 900 jobs, as in Shockwave's largest run.
func BenchmarkSolve(b *testing.B) {
	p := &program{}
	all := row{Right: 256}
	for j := range 900 {
		p.Cost = append(p.Cost, -rate(j))
		p.Rows = append(p.Rows, row{Cols: []int{j}, Values: []float64{-1}}, row{Cols: []int{j}, Values: []float64{1}, Right: 1})
		all.Cols, all.Values = append(all.Cols, j), append(all.Values, float64(1+j%4))
	}
	p.Rows = append(p.Rows, all)
	for b.Loop() {
		solve(p)
	}
}
