package reclaim_test

import (
	"fmt"
	"testing"

	"github.com/oxgang/oxgang/policy/reclaim"
)

// Of 500 servers with jobs on up to 8 of them, a part goes back: as many as requested, with the reported
// preemptions and damage, and with a limited distance from the bound in sum over the seeds.
func TestChoose_jobs_of_many_servers(t *testing.T) {
	for part, most := range map[int]float64{10: 0.11, 30: 0.16, 50: 0.085, 70: 0.026} {
		t.Run(fmt.Sprintf("%d %%", part), func(t *testing.T) {
			found, bound := 0, 0
			for seed := range uint64(seeds) {
				servers, n := placed(500, 390, 8, seed), 5*part
				a := choose(t, servers, n, reclaim.DefaultOptions())
				jobs, damage, _ := cost(servers, a.Servers)
				if len(a.Servers) != n || jobs != len(a.Preempted) || damage != a.Damage || a.Bound > jobs {
					t.Errorf("seed %d: %d servers, %d preempted and %d damage, bound %d, want %d, %d and %d", seed, len(a.Servers), len(a.Preempted), a.Damage, a.Bound, n, jobs, damage)
				}
				found, bound = found+len(a.Preempted), bound+a.Bound
			}
			gap := float64(found-bound) / float64(bound)
			t.Logf("%d preempted, bound %d: gap %.1f %%", found, bound, 100*gap)
			if gap > most {
				t.Errorf("%d preempted, bound %d: gap %.3f, want at most %.3f", found, bound, gap, most)
			}
		})
	}
}
