package reclaim_test

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/internal/rng"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy/reclaim"
)

// placed puts the workers of count jobs, of two GPUs each and up to most a job, on servers
// of eight GPUs drawn by lot.
func placed(servers, count, most int, seed uint64) []reclaim.Server {
	placed, free := make([]reclaim.Server, servers), make([]int, servers)
	for s := range placed {
		placed[s].ID, free[s] = cluster.NodeID(fmt.Sprintf("s%04d", s)), 8
	}
	draw := rng.Stream(seed, "placed")
	for j := range count {
		id, on := job.ID(fmt.Sprintf("j%04d", j)), map[int]int{}
		for range 1 + draw.IntN(most) {
			if s := draw.IntN(servers); free[s] >= 2 {
				free[s] -= 2
				on[s] += 2
			}
		}
		for s := range placed {
			if on[s] > 0 {
				placed[s].Holdings = append(placed[s].Holdings, reclaim.Share{Job: id, GPUs: on[s]})
			}
		}
	}
	return placed
}

// few draws servers that can be enumerated, with flexible workers and pinned jobs.
func few(t *rapid.T) []reclaim.Server {
	servers := make([]reclaim.Server, rapid.IntRange(1, 8).Draw(t, "servers"))
	pinned := rapid.SliceOfN(rapid.Bool(), 7, 7).Draw(t, "pinned")
	for s := range servers {
		servers[s].ID = cluster.NodeID(fmt.Sprint(s))
		for _, j := range rapid.SliceOfNDistinct(rapid.IntRange(0, 6), 0, 4, rapid.ID).Draw(t, "jobs") {
			share := reclaim.Share{Job: job.ID(fmt.Sprint("j", j)), GPUs: rapid.IntRange(1, 8).Draw(t, "gpus")}
			share.Flexible = rapid.IntRange(0, 3).Draw(t, "flexible") == 0
			share.Pinned = pinned[j] && j < 2
			servers[s].Holdings = append(servers[s].Holdings, share)
		}
	}
	return servers
}

// cost recounts an answer: jobs preempted, GPUs they leave elsewhere, whether a pinned job
// is among them.
func cost(servers []reclaim.Server, picked []cluster.NodeID) (preempted, damage int, pinned bool) {
	lost := map[job.ID]bool{}
	for _, s := range servers {
		for _, h := range s.Holdings {
			if slices.Contains(picked, s.ID) && !h.Flexible {
				lost[h.Job], pinned = true, pinned || h.Pinned
			}
		}
	}
	for _, s := range servers {
		for _, h := range s.Holdings {
			if !h.Flexible && lost[h.Job] && !slices.Contains(picked, s.ID) {
				damage += h.GPUs
			}
		}
	}
	return len(lost), damage, pinned
}

// least enumerates every choice of n servers that preempts no pinned job: the fewest
// preemptions, and the least damage with these of those that return what free is first.
// Fewest is -1 if there is none.
func least(servers []reclaim.Server, n int) (fewest, damage int) {
	free := 0
	for _, s := range servers {
		if idle(s) {
			free++
		}
	}
	fewest = -1
	for mask := range uint(1) << len(servers) {
		if bits.OnesCount(mask) != n {
			continue
		}
		var picked []cluster.NodeID
		idles := 0
		for i, s := range servers {
			if mask>>i&1 == 1 {
				picked = append(picked, s.ID)
				if idle(s) {
					idles++
				}
			}
		}
		jobs, d, pinned := cost(servers, picked)
		if pinned || idles < min(n, free) {
			continue
		}
		if fewest < 0 || jobs < fewest || jobs == fewest && d < damage {
			fewest, damage = jobs, d
		}
	}
	return fewest, damage
}

// idle says that no base workers are on s.
func idle(s reclaim.Server) bool {
	return !slices.ContainsFunc(s.Holdings, func(h reclaim.Share) bool { return !h.Flexible })
}

func TestChoose_property_exact_is_what_enumeration_finds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		servers := few(t)
		n := rapid.IntRange(0, len(servers)).Draw(t, "n")
		fewest, damage := least(servers, n)
		a, err := reclaim.Choose(servers, n, reclaim.DefaultOptions())
		if fewest < 0 {
			if !errors.Is(err, reclaim.ErrTooFew) {
				t.Fatalf("error %v, want %v", err, reclaim.ErrTooFew)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if len(a.Preempted) != fewest || a.Bound != fewest || a.Damage != damage || !a.Proven {
			t.Fatalf("%d preempted, damage %d, bound %d, proven %t, want %d and %d", len(a.Preempted), a.Damage, a.Bound, a.Proven, fewest, damage)
		}
	})
}

func TestChoose_property_every_rule(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		servers := few(t)
		n := rapid.IntRange(0, len(servers)).Draw(t, "n")
		exact, err := reclaim.Choose(servers, n, with(reclaim.Exact))
		for _, rule := range []reclaim.Rule{reclaim.Greedy, reclaim.Random, reclaim.SCF} {
			a, ruleErr := reclaim.Choose(servers, n, with(rule))
			if (err == nil) != (ruleErr == nil) {
				t.Fatalf("%s: error %v, exact has %v", rule, ruleErr, err)
			}
			if err != nil {
				continue
			}
			jobs, damage, pinned := cost(servers, a.Servers)
			if len(a.Servers) != n || jobs != len(a.Preempted) || damage != a.Damage || pinned {
				t.Fatalf("%s: %d of %d servers, %d preempted, damage %d, pinned %t: answer has %d and %d", rule, len(a.Servers), n, jobs, damage, pinned, len(a.Preempted), a.Damage)
			}
			if len(a.Preempted) < len(exact.Preempted) || len(a.Preempted) == len(exact.Preempted) && a.Damage < exact.Damage {
				t.Fatalf("%s preempts %d, damage %d; exact %d, %d", rule, len(a.Preempted), a.Damage, len(exact.Preempted), exact.Damage)
			}
		}
	})
}

func TestChoose_property_more_servers_never_cost_fewer_preemptions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		servers := placed(rapid.IntRange(1, 24).Draw(t, "servers"), rapid.IntRange(0, 20).Draw(t, "jobs"), 5, rapid.Uint64().Draw(t, "seed"))
		before := 0
		for n := range len(servers) + 1 {
			a, err := reclaim.Choose(servers, n, reclaim.DefaultOptions())
			if err != nil {
				t.Fatal(err)
			}
			if len(a.Preempted) < before || a.Bound != len(a.Preempted) {
				t.Fatalf("%d servers preempt %d, bound %d; one less %d", n, len(a.Preempted), a.Bound, before)
			}
			before = len(a.Preempted)
		}
	})
}

func TestChoose_without_steps_is_no_worse_than_greedy(t *testing.T) {
	o := reclaim.DefaultOptions()
	o.MaxSteps = 0
	unproven := 0
	for seed := range uint64(20) {
		servers := placed(60, 46, 8, seed)
		a, greedy := choose(t, servers, 18, o), choose(t, servers, 18, with(reclaim.Greedy))
		if len(a.Preempted) > len(greedy.Preempted) || a.Bound > len(a.Preempted) || a.Bound == 0 {
			t.Errorf("seed %d: %d preempted, bound %d, greedy %d", seed, len(a.Preempted), a.Bound, len(greedy.Preempted))
		}
		if !a.Proven {
			unproven++
		}
	}
	if unproven == 0 {
		t.Error("all proven with no steps: the limit does not count")
	}
}

func TestChoose_random_is_its_seeds(t *testing.T) {
	servers, o := placed(60, 46, 4, 1), with(reclaim.Random)
	one, same := choose(t, servers, 20, o), choose(t, servers, 20, o)
	if d := cmp.Diff(one, same); d != "" {
		t.Errorf("the same seed differs:\n%s", d)
	}
	o.Seed = 1
	if slices.Equal(one.Servers, choose(t, servers, 20, o).Servers) {
		t.Error("another seed draws the same servers")
	}
}

func TestChoose_complains(t *testing.T) {
	one := []reclaim.Server{{ID: "s", Holdings: []reclaim.Share{{Job: "j", GPUs: 1}}}}
	half := reclaim.Server{ID: "s", Holdings: []reclaim.Share{{Job: "j"}}}
	twice := reclaim.Server{ID: "s", Holdings: []reclaim.Share{{Job: "j", GPUs: 1}, {Job: "j", GPUs: 2}}}
	pinned := reclaim.Server{ID: "s", Holdings: []reclaim.Share{{Job: "j", GPUs: 1, Pinned: true}}}
	tests := []struct {
		name    string
		servers []reclaim.Server
		n       int
		o       reclaim.Options
		want    string
	}{
		{"more than there are", one, 2, with(reclaim.Exact), "reclaim: 2 of 1 servers: too few servers can be returned, 1 can"},
		{"less than none", one, -1, with(reclaim.Exact), "reclaim: -1 of 1 servers: too few servers can be returned, 1 can"},
		{"a pinned job", []reclaim.Server{pinned}, 1, with(reclaim.Greedy), "reclaim: 1 of 1 servers: too few servers can be returned, 0 can"},
		{"no GPUs", []reclaim.Server{half}, 1, with(reclaim.SCF), "reclaim: server s: job j: 0 GPUs, want at least 1, in one share of a kind"},
		{"a job twice", []reclaim.Server{twice}, 1, with(reclaim.SCF), "reclaim: server s: job j: 2 GPUs, want at least 1, in one share of a kind"},
		{"a server twice", []reclaim.Server{one[0], one[0]}, 1, with(reclaim.SCF), "reclaim: server s twice"},
		{"rule and steps", one, 1, reclaim.Options{Rule: "best", MaxSteps: -1}, "reclaim: rule \"best\", want greedy, random, scf or exact\nmax steps -1, want at least 0"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if _, err := reclaim.Choose(test.servers, test.n, test.o); err == nil || err.Error() != test.want {
				t.Errorf("error %v, want %s", err, test.want)
			}
		})
	}
}
