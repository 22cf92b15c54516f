package reclaim

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/oxgang/oxgang/internal/rng"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
)

// A Share is the GPUs that the workers of one job hold on a server.
type Share struct {
	Job      job.ID
	GPUs     int
	Flexible bool // the workers are beyond the job's base demand, so they can be taken without preemption
	Pinned   bool // the job is non-preemptive
}

// A Server is a node on loan from an inference cluster, with the jobs on it.
type Server struct {
	ID       cluster.NodeID
	Holdings []Share
}

// A Rule is an algorithm that chooses the servers to give back.
type Rule string

// The rules; see the package comment.
const (
	Greedy Rule = "greedy"
	Random Rule = "random"
	SCF    Rule = "scf"
	Exact  Rule = "exact"
)

// Options select the rule, and limit its work.
type Options struct {
	Rule     Rule
	Seed     uint64 // seed of rule Random
	MaxSteps int    // maximum number of steps of rule Exact; a step takes 5 to 10 ns
}

// DefaultOptions returns rule Exact, limited to a number of steps that takes about 10 to 18 ms in all.
func DefaultOptions() Options { return Options{Rule: Exact, MaxSteps: 2_000_000} }

// Validate returns all errors in o, joined.
func (o Options) Validate() error {
	var bad []error
	if !slices.Contains([]Rule{Greedy, Random, SCF, Exact}, o.Rule) {
		bad = append(bad, fmt.Errorf("rule %q, want greedy, random, scf or exact", o.Rule))
	}
	if o.MaxSteps < 0 {
		bad = append(bad, fmt.Errorf("max steps %d, want at least 0", o.MaxSteps))
	}
	return errors.Join(bad...)
}

// An Answer lists the servers to give back, and the jobs that are preempted by this.
type Answer struct {
	Servers   []cluster.NodeID // in the order given
	Preempted []job.ID         // ascending
	Free      int              // number of Servers without base workers, the ones a job cannot run without
	Scaled    int              // GPUs of flexible workers taken from jobs that continue
	// Damage is the collateral damage: GPUs that preempted base workers release on servers that stay. Source: Lyra
	// §7.3, "the fraction of GPUs vacated in excess of the reclaiming demand".
	Damage int
	Bound  int  // lower bound on the number of preemptions; 0 if the rule computes none
	Proven bool // no other choice has fewer preemptions, or equally many and less damage
	Steps  int  // steps that rule Exact took
}

// ErrTooFew is returned if fewer servers can be given back than wanted, because non-preemptive jobs run on the others.
var ErrTooFew = errors.New("too few servers can be returned")

// Choose returns n servers to give back, so that few jobs are preempted. Workers that a non-preemptive job cannot run
// without are never taken. It returns ErrTooFew, or an error for invalid shares or options. Rule Exact takes at most
// o.MaxSteps steps, the other rules n passes over the shares.
func Choose(servers []Server, n int, o Options) (*Answer, error) {
	if err := errors.Join(o.Validate(), check(servers)); err != nil {
		return nil, fmt.Errorf("reclaim: %w", err)
	}
	w := newServerSet(servers)
	if n < 0 || n > len(w.returnable) {
		return nil, fmt.Errorf("reclaim: %d of %d servers: %w, %d can", n, len(servers), ErrTooFew, len(w.returnable))
	}
	switch o.Rule {
	case Random:
		return w.answer(w.random(n, o.Seed)), nil
	case SCF:
		return w.answer(w.smallestCount(n)), nil
	case Greedy, Exact:
	}
	free := w.free(n)
	rest := n - len(free)
	switch {
	case rest == 0:
		a := w.answer(free)
		a.Proven = true
		return a, nil
	case o.Rule == Exact:
		return w.exact(free, rest, o.MaxSteps)
	}
	return w.answer(append(free, w.greedy(rest)...)), nil
}

func check(servers []Server) error {
	var bad []error
	ids := map[cluster.NodeID]bool{}
	for _, s := range servers {
		if ids[s.ID] {
			bad = append(bad, fmt.Errorf("server %s twice", s.ID))
		}
		ids[s.ID] = true
		bad = append(bad, s.check())
	}
	return errors.Join(bad...)
}

func (s *Server) check() error {
	type key struct {
		id       job.ID
		flexible bool
	}
	seen := map[key]bool{}
	for _, h := range s.Holdings {
		k := key{h.Job, h.Flexible}
		if h.GPUs < 1 || seen[k] {
			return fmt.Errorf("server %s: job %s: %d GPUs, want at least 1, in one share of a kind", s.ID, h.Job, h.GPUs)
		}
		seen[k] = true
	}
	return nil
}

// free returns up to n servers without base workers, those with the fewest flexible GPUs first. Source: Lyra
// §5.3, "release the server group for flexible demands first".
func (w *serverSet) free(n int) []int {
	var free []int
	for _, s := range w.returnable {
		if len(w.jobs[s]) == 0 {
			free = append(free, s)
		}
	}
	slices.SortStableFunc(free, func(a, b int) int { return w.flexible[a] - w.flexible[b] })
	return free[:min(n, len(free))]
}

// random picks n servers at random. Source: Lyra §7.1, "On-loan servers are randomly selected".
func (w *serverSet) random(n int, seed uint64) []int {
	all := slices.Clone(w.returnable)
	rng.Stream(seed, "lyra/reclaim").Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:n]
}

// smallestCount picks the n servers with the fewest jobs, counted once, before any job leaves. Source: Lyra §7.1, "The
// top-k servers that host the smallest number of jobs are chosen".
func (w *serverSet) smallestCount(n int) []int {
	all := slices.Clone(w.returnable)
	slices.SortStableFunc(all, func(a, b int) int { return w.hosted(a) - w.hosted(b) })
	return all[:n]
}

// hosted returns the number of jobs with base or flexible workers on server s.
func (w *serverSet) hosted(s int) int {
	jobs := make(map[job.ID]bool)
	for _, h := range w.servers[s].Holdings {
		jobs[h.Job] = true
	}
	return len(jobs)
}

// Back returns the lent nodes to give back to all owners that ask for nodes, by ascending ID. It returns fewer than
// they ask for if non-preemptive jobs run on too many. Taking GPUs that a job can release while it trains is not a
// preemption.
func Back(s *policy.Snapshot, o Options) ([]cluster.NodeID, error) {
	var back []cluster.NodeID
	for i := range s.Loans {
		l := &s.Loans[i]
		if l.Reclaim == 0 {
			continue
		}
		some, err := Of(s, l.Group, l.Reclaim, o)
		if err != nil {
			return nil, err
		}
		back = append(back, some...)
	}
	slices.Sort(back)
	return back, nil
}

// Of chooses nodes of group g to give back to their owner, with as few preemptions as possible. It returns fewer than
// the given number if jobs that cannot be preempted hold the others. If the search is cut off (Options.MaxSteps), more
// jobs than necessary may stop.
func Of(s *policy.Snapshot, g cluster.Group, nodes int, o Options) ([]cluster.NodeID, error) {
	servers := serversOf(s, g)
	answer, err := Choose(servers, min(nodes, len(newServerSet(servers).returnable)), o)
	if err != nil {
		return nil, fmt.Errorf("group %s: %w", g, err)
	}
	return answer.Servers, nil
}

func serversOf(s *policy.Snapshot, g cluster.Group) []Server {
	var servers []Server
	at := make(map[cluster.NodeID]int) // place in servers
	for i := range s.Cluster.Nodes() {
		if n := &s.Cluster.Nodes()[i]; n.Tenure != cluster.Owned && n.Group == g {
			at[n.ID] = len(servers)
			servers = append(servers, Server{ID: n.ID})
		}
	}
	for _, j := range s.Jobs {
		flexible := flexibleOf(j)
		for _, share := range j.Placement {
			if k, lent := at[share.Node]; lent && share.GPUs > 0 {
				h := Share{Job: j.ID, GPUs: share.GPUs, Flexible: flexible[share.Node], Pinned: j.NonPreemptive}
				servers[k].Holdings = append(servers[k].Holdings, h)
			}
		}
	}
	return servers
}

func flexibleOf(j *policy.Job) map[cluster.NodeID]bool {
	if !j.Resizes || len(j.Placement) < 2 {
		return nil
	}
	left := slices.Clone(j.Placement)
	slices.SortStableFunc(left, func(a, b cluster.Share) int { return cmp.Compare(b.GPUs, a.GPUs) })
	flexible := make(map[cluster.NodeID]bool)
	for len(left) > 1 && j.CanShrinkTo(left[:len(left)-1]) {
		flexible[left[len(left)-1].Node] = true
		left = left[:len(left)-1]
	}
	return flexible
}
