package explaintest

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/oxgang/oxgang/internal/draws"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler/explain"
	"github.com/oxgang/oxgang/scheduler/journal"
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

// A loss is what a job has less of a node, and what others have more there.
type loss struct {
	gave int
	got  map[job.ID]int
}

// losses returns those of each job in a round; a job that lost none to others has no entry.
func (x *round) losses() map[job.ID][]loss {
	before, after := x.on()
	all := map[job.ID][]loss{}
	for loser := range before {
		for node, had := range before[loser] {
			l := loss{had - after[loser][node], map[job.ID]int{}}
			for winner := range after {
				if more := after[winner][node] - before[winner][node]; more > 0 {
					l.got[winner] = more
				}
			}
			if l.gave > 0 && len(l.got) > 0 {
				all[loser] = append(all[loser], l)
			}
		}
	}
	return all
}

// mostLosers is how many pages of a run are read.
const mostLosers = 20

// TestWhoGotTheGPUs compares the pages of jobs that lost GPUs to others with snapshots and plans: of every policy on one trace, or on
// all with OXGANG_LONG.
func TestWhoGotTheGPUs(t *testing.T) {
	seed := draws.Seed(t)
	pages := 0
	for _, x := range pairs() {
		if x.trace != "overload" && !draws.Long() {
			continue
		}
		of := 0
		r := simulate(t, x.policy, x.trace, fmt.Sprint(seed%1000+1))
		for _, k := range rand.New(rand.NewPCG(seed, 2)).Perm(len(r.all)) {
			lost := r.all[k].losses()
			for _, loser := range slices.Sorted(maps.Keys(lost)) {
				if of < mostLosers {
					pages, of = pages+1, of+1
					r.named(t, k, loser, lost[loser])
				}
			}
		}
	}
	if pages == 0 {
		t.Errorf("seed %d: no job lost GPUs to another", seed)
	}
	t.Logf("seed %d: %d pages", seed, pages)
}

// named checks that the page of a job at a round names who got its GPUs: as many as it lost to others,
// and of nobody more than he has more on these nodes.
func (r *run) named(t *testing.T, k int, id job.ID, lost []loss) {
	t.Helper()
	j, err := journal.NewReader(bytes.NewReader(r.journal))
	if err != nil {
		t.Fatal(err)
	}
	s, err := explain.At(j, id, r.all[k].s.Now.Sub(j.Header().Start))
	if err != nil {
		t.Fatal(err)
	}
	want, most := 0, map[job.ID]int{}
	for _, l := range lost {
		all := 0
		for winner, n := range l.got {
			all += n
			most[winner] += min(n, l.gave)
		}
		want += min(all, l.gave)
	}
	for _, taker := range s.Moment.Takers {
		want -= taker.GPUs
		if taker.GPUs > most[taker.Job] {
			t.Errorf("job %s in round %d: %d GPUs went to %s, want at most %d", id, k, taker.GPUs, taker.Job, most[taker.Job])
		}
	}
	if want != 0 {
		t.Errorf("job %s in round %d: %v got its GPUs, want %d more", id, k, s.Moment.Takers, want)
	}
}
