package explaintest

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/explain"
	"github.com/oxgang/oxgang/internal/draws"
	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/journal"
)

// on returns how many GPUs of each node each job has, before a round and after it.
func (x *round) on() (before, after map[job.ID]map[cluster.NodeID]int) {
	before, after = map[job.ID]map[cluster.NodeID]int{}, map[job.ID]map[cluster.NodeID]int{}
	for i, j := range x.s.Jobs {
		before[j.ID], after[j.ID] = map[cluster.NodeID]int{}, map[cluster.NodeID]int{}
		for _, share := range j.Placement {
			before[j.ID][share.Node] += share.GPUs
		}
		for _, share := range x.p.Jobs[i].Placement {
			after[j.ID][share.Node] += share.GPUs
		}
	}
	return before, after
}

// took returns the jobs that have more GPUs after a round on nodes where each job has fewer; a job
// from which nobody took any has no entry.
func (x *round) took() map[job.ID][]job.ID {
	before, after := x.on()
	all := map[job.ID][]job.ID{}
	for loser := range before {
		for node, had := range before[loser] {
			if after[loser][node] >= had {
				continue
			}
			for winner := range after {
				if after[winner][node] > before[winner][node] && !slices.Contains(all[loser], winner) {
					all[loser] = append(all[loser], winner)
				}
			}
		}
		slices.Sort(all[loser])
	}
	return all
}

// TestWhoGotTheGPUs compares the pages of jobs that lost GPUs to others with snapshots and plans.
func TestWhoGotTheGPUs(t *testing.T) {
	seed := draws.Seed(t)
	pages := 0
	for _, name := range policies {
		of := 0
		r := simulate(t, name, "overload", fmt.Sprint(seed%1000+1))
		for _, k := range rand.New(rand.NewPCG(seed, 2)).Perm(len(r.all)) {
			took := r.all[k].took()
			for _, loser := range slices.Sorted(maps.Keys(took)) {
				if len(took[loser]) > 0 && of < 8 {
					pages, of = pages+1, of+1
					r.named(t, k, loser, took[loser])
				}
			}
		}
	}
	if pages == 0 {
		t.Errorf("seed %d: no job lost GPUs to another", seed)
	}
	t.Logf("seed %d: %d pages", seed, pages)
}

// named checks that the page of a job at a round names who got its GPUs.
func (r *run) named(t *testing.T, k int, id job.ID, want []job.ID) {
	t.Helper()
	j, err := journal.NewReader(bytes.NewReader(r.journal))
	if err != nil {
		t.Fatal(err)
	}
	s, err := explain.At(j, id, r.all[k].s.Now.Sub(j.Header().Start))
	if err != nil {
		t.Fatal(err)
	}
	var got []job.ID
	for _, taker := range s.Moment.Takers {
		got = append(got, taker.Job)
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("job %s in round %d: %v got its GPUs, want %v", id, k, got, want)
	}
}
