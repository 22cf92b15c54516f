package multimode_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/oxgang/oxgang/opt/multimode"
)

// crowd returns a window of 20 rounds of 120 s on so many GPUs, and jobs of the sizes
// and durations of Shockwave's workload (§8.1) in the middle of their lives: log
// utilities weighted by finish-time fairness, as in Eq. 11.
func crowd(jobs, gpus int, seed uint64) *multimode.Problem {
	const rounds, length = 20, 120.0
	held := 0
	src := rand.New(rand.NewPCG(seed, 0))
	p := &multimode.Problem{Rounds: rounds, Capacity: []int{gpus}, Lambda: 1}
	total := 0.0
	for range jobs {
		size := []int{1, 1, 1, 1, 1, 1, 1, 2, 2, 4, 8}[src.IntN(11)]
		exclusive := 720 * math.Pow(25, src.Float64()) // 0.2 to 5 hours
		done, speed := src.Float64()*0.9, 1.0
		weight := math.Pow(0.8+0.7*src.Float64(), 5)
		total += exclusive
		at := func(run float64) multimode.Point {
			left := math.Max(0, exclusive*(1-done)-run*speed)
			u := 1 - left/exclusive
			return multimode.Point{
				Value: weight * math.Log(u+length/exclusive) / float64(jobs*gpus),
				Left:  left, Load: left * float64(size) / float64(gpus),
			}
		}
		j := multimode.Job{Idle: at(0), Held: -1}
		lost := 20.0
		if held+size <= gpus*9/10 && src.IntN(jobs) < gpus/2 {
			j.Held, lost = 0, 0
			held += size
		}
		m := multimode.Mode{Amount: size}
		for n := 1; n <= rounds; n++ {
			m.After = append(m.After, at(float64(n)*length-lost))
			if m.After[n-1].Left == 0 {
				break
			}
		}
		j.Again = max(0, (m.After[0].Value-j.Idle.Value)*20/length)
		j.Modes = []multimode.Mode{m}
		p.Jobs = append(p.Jobs, j)
	}
	p.Lambda /= total
	return p
}

// BenchmarkGap prints the bound gap against the time on one core, as Shockwave Fig. 12
// does: mean and worst gap of 20 windows by the number of knapsacks solved at most.
func BenchmarkGap(b *testing.B) {
	const seeds = 20
	for _, jobs := range []int{500, 1000, 2000} {
		var windows []*multimode.Problem
		for seed := range uint64(seeds) {
			windows = append(windows, crowd(jobs, 256, seed))
		}
		for _, solves := range []int{1, 2, 4, 6, 8, 12, 16} {
			b.Run(fmt.Sprintf("gpus=256/jobs=%d/solves=%d", jobs, solves), func(b *testing.B) {
				mean, worst := 0.0, 0.0
				for b.Loop() { // all windows
					mean, worst = 0, 0
					for _, p := range windows {
						gap := solve(b, p, multimode.Options{Solves: solves}).Gap()
						mean, worst = mean+gap/seeds, max(worst, gap)
					}
				}
				b.ReportMetric(100*mean, "%gap")
				b.ReportMetric(100*worst, "%worst")
				b.ReportMetric(b.Elapsed().Seconds()*1e3/float64(b.N*seeds), "ms/window")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}
