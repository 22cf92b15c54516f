package timetable_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/oxgang/oxgang/opt/timetable"
)

// crowd returns a window of 20 rounds of 120 s on so many GPUs, and jobs of the sizes
// and durations of Shockwave's workload (§8.1) in the middle of their lives: log
// utilities weighted by finish-time fairness, as in Eq. 11.
func crowd(jobs, gpus int, seed uint64) *timetable.Problem {
	const rounds, length = 20, 120.0
	held := 0
	src := rand.New(rand.NewPCG(seed, 0))
	p := &timetable.Problem{Rounds: rounds, Capacity: []int{gpus}, Lambda: 1}
	total := 0.0
	for range jobs {
		size := []int{1, 1, 1, 1, 1, 1, 1, 2, 2, 4, 8}[src.IntN(11)]
		exclusive := 720 * math.Pow(25, src.Float64()) // 0.2 to 5 hours
		done, speed := src.Float64()*0.9, 1.0
		weight := math.Pow(0.8+0.7*src.Float64(), 5)
		total += exclusive
		at := func(run float64) timetable.Point {
			left := math.Max(0, exclusive*(1-done)-run*speed)
			u := 1 - left/exclusive
			return timetable.Point{
				Value: weight * math.Log(u+length/exclusive) / float64(jobs*gpus),
				Left:  left, Load: left * float64(size) / float64(gpus),
			}
		}
		j := timetable.Job{Idle: at(0), Held: -1}
		lost := 20.0
		if held+size <= gpus*9/10 && src.IntN(jobs) < gpus/2 {
			j.Held, lost = 0, 0
			held += size
		}
		m := timetable.Mode{Amount: size}
		for n := 1; n <= rounds; n++ {
			m.After = append(m.After, at(float64(n)*length-lost))
			if m.After[n-1].Left == 0 {
				break
			}
		}
		j.Again = max(0, (m.After[0].Value-j.Idle.Value)*20/length)
		j.Modes = []timetable.Mode{m}
		p.Jobs = append(p.Jobs, j)
	}
	p.Lambda /= total
	return p
}

func BenchmarkSolve(b *testing.B) {
	for _, jobs := range []int{500, 1000, 2000} {
		b.Run(fmt.Sprintf("gpus=256/jobs=%d", jobs), func(b *testing.B) {
			p := crowd(jobs, 256, 1)
			var t *timetable.Timetable
			for b.Loop() {
				var err error
				if t, err = timetable.Solve(b.Context(), p, timetable.DefaultOptions()); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(100*t.Gap(), "%gap")
			b.ReportMetric(float64(t.Solves), "solves")
		})
	}
}

// BenchmarkGap prints the bound gap against the time: Shockwave Fig. 12.
func BenchmarkGap(b *testing.B) {
	for _, jobs := range []int{500, 1000, 2000} {
		for _, solves := range []int{1, 2, 4, 8, 16, 32} {
			b.Run(fmt.Sprintf("gpus=256/jobs=%d/solves=%d", jobs, solves), func(b *testing.B) {
				gap, worst := 0.0, 0.0
				n := 0
				start := time.Now()
				for b.Loop() {
					t, err := timetable.Solve(b.Context(), crowd(jobs, 256, uint64(n)), timetable.Options{Solves: solves})
					if err != nil {
						b.Fatal(err)
					}
					gap += t.Gap()
					worst = max(worst, t.Gap())
					n++
				}
				_ = start
				b.ReportMetric(100*gap/float64(n), "%gap")
				b.ReportMetric(100*worst, "%worst")
			})
		}
	}
}
