package reclaim

import (
	"errors"
	"fmt"
	"slices"

	"github.com/oxgang/oxgang/internal/rng"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
)

// A Share is what workers of one job have of a server. A job may have one of each kind
// there.
type Share struct {
	Job      job.ID
	GPUs     int
	Flexible bool // beyond the base demand: they can be taken without preemption
	Pinned   bool // the job may not be preempted
}

// A Server is on loan.
type Server struct {
	ID       cluster.NodeID
	Holdings []Share
}

// A Rule names a way to choose servers.
type Rule string

// The rules; see the package's page.
const (
	Greedy Rule = "greedy"
	Random Rule = "random"
	SCF    Rule = "scf"
	Exact  Rule = "exact"
)

// Options say how to choose.
type Options struct {
	Rule     Rule
	Seed     uint64 // of Random
	MaxSteps int    // of Exact: edges looked at, 5 to 10 ns each
}

// DefaultOptions is exact as far as some 10 to 18 ms go.
func DefaultOptions() Options { return Options{Rule: Exact, MaxSteps: 2_000_000} }

// Validate joins every complaint about o.
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

// An Answer is which servers go back, and what that costs.
type Answer struct {
	Servers   []cluster.NodeID // in the order given
	Preempted []job.ID         // ascending
	Free      int              // of Servers, those without base workers
	Scaled    int              // GPUs of flexible workers taken, of jobs that go on
	// Damage is collateral: GPUs that base workers of preempted jobs leave on servers that
	// stay. Source: Lyra §7.3, "the fraction of GPUs vacated in excess of the reclaiming
	// demand".
	Damage int
	Bound  int  // no answer preempts fewer jobs; 0 where a rule proves nothing
	Proven bool // no answer is better: fewer preemptions, or as many and less damage
	Steps  int  // of Exact
}

// ErrTooFew reports that more servers are to go back than can.
var ErrTooFew = errors.New("too few servers can be returned")

// Choose returns n of the servers, none of which has a pinned job's base workers. Errors:
// ErrTooFew, shares that cannot be, bad options. With Exact it costs what o.MaxSteps allows,
// otherwise n passes over the shares.
func Choose(servers []Server, n int, o Options) (*Answer, error) {
	if err := errors.Join(o.Validate(), check(servers)); err != nil {
		return nil, fmt.Errorf("reclaim: %w", err)
	}
	w := newServerSet(servers)
	if n < 0 || n > len(w.able) {
		return nil, fmt.Errorf("reclaim: %d of %d servers: %w, %d can", n, len(servers), ErrTooFew, len(w.able))
	}
	free := w.free(n)
	rest := n - len(free)
	switch {
	case rest == 0:
		return w.proven(free), nil
	case o.Rule == Exact:
		return w.exact(free, rest, o.MaxSteps)
	case o.Rule == Random:
		return w.answer(append(free, w.random(rest, o.Seed)...)), nil
	case o.Rule == SCF:
		return w.answer(append(free, w.pick(rest, w.one)...)), nil
	}
	return w.answer(append(free, w.greedy(rest)...)), nil
}

// check joins complaints about the servers.
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

// check returns the first complaint about the server's shares.
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

// free returns up to n servers that have no base workers, those with the fewest GPUs of
// flexible ones first. Source: Lyra §5.3, "release the server group for flexible demands
// first".
func (w *serverSet) free(n int) []int {
	var free []int
	for _, s := range w.able {
		if len(w.jobs[s]) == 0 {
			free = append(free, s)
		}
	}
	slices.SortStableFunc(free, func(a, b int) int { return w.flexible[a] - w.flexible[b] })
	return free[:min(n, len(free))]
}

// proven is the answer that preempts no job.
func (w *serverSet) proven(free []int) *Answer {
	a := w.answer(free)
	a.Proven = true
	return a
}

// random draws n of the servers that have base workers.
func (w *serverSet) random(n int, seed uint64) []int {
	busy := w.busy()
	rng.Stream(seed, "lyra/reclaim").Shuffle(len(busy), func(i, j int) { busy[i], busy[j] = busy[j], busy[i] })
	return busy[:n]
}
