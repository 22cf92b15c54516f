package themis_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy/policytest"
)

// BenchmarkRound plans rounds of Shockwave's largest scale, of gangs and of elastic jobs.
func BenchmarkRound(b *testing.B) {
	for _, elastic := range []bool{false, true} {
		b.Run(fmt.Sprintf("elastic=%v/gpus=256/jobs=900", elastic), func(b *testing.B) {
			w := policytest.NewToy(b, 256)
			for i := range 900 {
				j := w.Submit(job.ID(fmt.Sprint(i)), []int{1, 1, 1, 1, 2, 1, 4, 1, 2, 8}[i%10], time.Duration(100+i)*time.Hour)
				if elastic {
					fewer(j)
				}
			}
			p := fresh(b, nil)
			rounds := 0
			for b.Loop() {
				w.Play(p)
				rounds++
			}
			b.ReportMetric(float64(rounds)/b.Elapsed().Seconds(), "rounds/s")
		})
	}
}
