package scheduler

import (
	"context"
	"slices"
	"sort"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/placement"
)

// A continuing has the jobs that need no new decision (Options.Lean): their rows are the same pointers.
type continuing struct {
	cluster *cluster.Cluster
	held    policy.Continuing
	jobs    []continuer
	last    []policy.Decision
	spare   []policy.Decision // for the next plan
	asked   []int
	rows    []*policy.Job    // of asked
	shown   [2][]*policy.Job // memory for the rows of snapshots, used in turns
	turn    int
	all     []int
}

type continuer struct {
	record *record
	row    *policy.Job
	at     int // index in the active jobs and in last
}

func (s *Scheduler) lean(snap *policy.Snapshot) bool {
	if !s.o.Lean || s.times.between || s.computing || s.classes != nil || s.o.Known != nil || s.o.Estimate.Share {
		return false
	}
	if t := s.policy.Traits(); !t.Steady || !t.Keeps || len(snap.Rentals)+len(snap.Loans) > 0 {
		return false
	}
	if _, ok := s.placer.(placement.Incremental); !ok {
		return false
	}
	return !slices.ContainsFunc(snap.Cluster.Types(), func(t cluster.TypeInfo) bool { return t.Counts() })
}

// planOthers asks the policy only about the jobs that do not continue, and returns the plan for all, and the indexes of
// those jobs. It returns nil if the whole round must be planned.
func (s *Scheduler) planOthers(ctx context.Context, snap *policy.Snapshot) (*policy.Plan, []int) {
	st := &s.continuing
	if len(st.jobs) == 0 || st.cluster != snap.Cluster || !s.lean(snap) {
		return nil, nil
	}
	if st.sort(s.active, snap); slices.ContainsFunc(st.rows, func(j *policy.Job) bool { return !j.Reservation.IsZero() }) {
		return nil, nil
	}
	few := *snap
	few.Jobs, few.Continuing = st.rows, &st.held
	plan, err := s.plan(ctx, &few)
	if err != nil || plan.Background != nil || unplaced(plan) {
		return nil, nil
	}
	st.join(plan, len(snap.Jobs))
	return plan, st.asked
}

func (st *continuing) sort(active []*record, snap *policy.Snapshot) {
	st.asked, st.rows = st.asked[:0], nil
	kept, next := st.jobs[:0], 0
	for i, r := range active {
		for next < len(st.jobs) && st.jobs[next].record != r && st.jobs[next].record.status.Phase.Terminal() {
			st.held.Add(st.cluster, st.jobs[next].row, -1)
			next++
		}
		if next < len(st.jobs) && st.jobs[next].record == r {
			next++
			if j := st.jobs[next-1]; j.row == snap.Jobs[i] {
				kept = append(kept, j)
				continue
			}
			st.held.Add(st.cluster, st.jobs[next-1].row, -1)
		}
		st.asked, st.rows = append(st.asked, i), append(st.rows, snap.Jobs[i])
	}
	for _, ended := range st.jobs[next:] {
		st.held.Add(st.cluster, ended.row, -1)
	}
	st.jobs = kept
}

func (st *continuing) join(plan *policy.Plan, n int) {
	all := slices.Grow(st.spare[:0], n)[:n]
	i, asked := 0, 0
	for k := 0; k < len(st.jobs); {
		for ; asked < len(st.asked) && st.asked[asked] == i; i, asked = i+1, asked+1 {
			all[i] = plan.Jobs[asked]
		}
		from, to := st.jobs[k].at, i
		for ; k < len(st.jobs) && st.jobs[k].at == from+i-to && (asked == len(st.asked) || st.asked[asked] != i); k, i = k+1, i+1 {
			st.jobs[k].at = i
		}
		copy(all[to:i], st.last[from:])
	}
	for ; asked < len(st.asked); i, asked = i+1, asked+1 {
		all[i] = plan.Jobs[asked]
	}
	plan.Jobs = all
}

func (s *Scheduler) note(snap *policy.Snapshot, plan *policy.Plan, asked []int) {
	st := &s.continuing
	if plan.Refused != "" || plan.Background != nil || !s.lean(snap) {
		*st = continuing{all: st.all, shown: st.shown, turn: st.turn}
		return
	}
	if len(asked) == len(snap.Jobs) {
		st.jobs, st.cluster = st.jobs[:0], snap.Cluster
		st.held = policy.Continuing{ByNode: make([]int, len(snap.Cluster.Nodes())), ByType: make([]int, len(snap.Cluster.Types()))}
	}
	for _, i := range asked {
		if r, row := s.active[i], snap.Jobs[i]; r.row == row && row.Continues(&plan.Jobs[i]) {
			at := sort.Search(len(st.jobs), func(k int) bool { return st.jobs[k].at > i })
			st.jobs = slices.Insert(st.jobs, at, continuer{r, row, i})
			st.held.Add(st.cluster, row, 1)
		}
	}
	st.last, st.spare = plan.Jobs, st.last
}

func (st *continuing) memory(n int, reuse bool) []*policy.Job {
	if !reuse {
		return make([]*policy.Job, n)
	}
	st.turn = 1 - st.turn
	st.shown[st.turn] = slices.Grow(st.shown[st.turn][:0], n)[:n]
	return st.shown[st.turn]
}

func (st *continuing) everyone(n int) []int {
	for len(st.all) < n {
		st.all = append(st.all, len(st.all))
	}
	return st.all[:n]
}

// A steadyRound is a round whose decisions hold for the next round if nothing happens; zero: the next one is planned.
type steadyRound struct {
	snap *policy.Snapshot
	plan *policy.Plan
}

// storeSteady stores a round, unless the next one may differ even if nothing happens.
func (s *Scheduler) storeSteady(snap *policy.Snapshot, plan *policy.Plan, acts []Action) {
	if len(acts) > 0 || s.times.between || !s.policy.Traits().Steady || plan.Refused != "" || plan.Background != nil || s.computing {
		return
	}
	if len(snap.Rentals)+len(snap.Loans) > 0 || s.classes != nil || s.o.Known != nil {
		return
	}
	if unplaced(plan) {
		return
	}
	s.steady = steadyRound{snap, plan}
}

func unplaced(plan *policy.Plan) bool {
	return slices.ContainsFunc(plan.Jobs, func(d policy.Decision) bool {
		return d.Why.Kind == policy.Evicted || d.Why.Kind == policy.KeptNoPlace
	})
}

// repeat repeats the last round, if nothing can have changed; nil otherwise. Rows and decisions are shared with
// that round: both are immutable.
func (s *Scheduler) repeat(now time.Time) (*policy.Snapshot, *policy.Plan) {
	if s.steady.plan == nil || s.times.between {
		return nil, nil
	}
	snap := *s.steady.snap
	snap.Now, snap.Round, snap.Computed = now, s.round, nil
	s.round++
	s.times.extra, s.times.planned = time.Time{}, now
	return &snap, s.steady.plan
}
