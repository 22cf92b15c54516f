package oxgang

import (
	"slices"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/backfill"
	"github.com/oxgang/oxgang/policy/goodput"
	"github.com/oxgang/oxgang/policy/grant"
)

// The limit. A job should take at most (1 + Options.Margin) times as long as under EASY backfilling. A job that needs
// more than half of the GPUs of a type should wait for its first start at most 1.1 times as long. Package backfill
// keeps the EASY schedule; a job's counterpart there is its twin.
//
// How it is kept. A job may wait, shrink or be preempted while it can still end in time on the GPUs of its twin. A
// job that adapts its GPU count may catch up on twice as many (catchUp). With all times in seconds from now, the
// condition is
//
//	work left / its speed there + restart + lost work + one round  ≤  end of its twin + allowed
//
// Once it fails, the job claims the speed that it needs (goodput.Claim), at least the speed of its twin. It claims it
// until it would end no later than its twin. For a job that adapts its GPU count, allowed is the whole margin. Other
// jobs cannot make up for a delay. They keep a fifth of the margin (fixedPart) for surprises: restarts, GPUs
// scattered over nodes, wrong estimates.
//
// Why claims fit together. Twins that run at the same time hold different GPUs, and a job of a fixed size claims what
// its twin holds, or an equally fast GPU type. Conflicts come only from jobs whose twins have ended, and from jobs that claim more than their
// twins hold. Then large jobs that have not started go first, and after them the job that is due first.
//
// Example. A job needs all 64 GPUs for 1 h, while small jobs keep coming. Under EASY it starts after 2 h. It claims
// its GPUs 12 min later (less a restart and a round): all others are preempted, and it ends after 3.2 h.
//
// A job that cannot be stopped starts only where it ends in time, because it can never grow (demand).
//
// A job that has done the work that it states, and goes on, has no limit any more: its twin ended too early.
//
// There is no limit while nodes are rented or on loan, or between jobs of different priorities.

const (
	grace     = 300 // seconds that every job may be late
	fixedPart = 0.8 // part of the margin that a job of a fixed GPU count may use up
	catchUp   = 2   // times the GPUs of its twin on which a job may catch up
	firstWait = 0.1 // part of its wait under EASY by which the first start of a large job may be later
)

type limit struct {
	margin float64 // Options.Margin; 0: no limit
	easy   backfill.Schedule
}

func (l *limit) applies(s *policy.Snapshot) bool {
	return l.margin > 0 && len(s.Loans) == 0 && len(s.Rentals) == 0
}

func (l *limit) claim(s *policy.Snapshot, rows []*goodput.Row, states []*state) {
	for _, r := range rows {
		r.Claim, r.Stays = goodput.Claim{}, false
	}
	if !l.applies(s) || slices.ContainsFunc(rows, func(r *goodput.Row) bool { return r.Level != rows[0].Level }) {
		return
	}
	l.easy.Advance(s, func(i int) backfill.Work { return states[i].work(s.Jobs[i]) })
	for i, r := range rows {
		st := states[i]
		fragile := unstoppable(r.Job())
		r.Stays = fragile && r.Job().Holding()
		twin, ok := l.easy.Compare(r.Job().ID)
		if r.Job().Phase == job.Profiling || len(r.Job().Parts) > 0 { // the twin of a confined job may be on other nodes
			st.claims = false
			continue
		}
		if fragile && !r.Stays && r.Columns() > 1 {
			l.demand(s, r, st)
		}
		if st.claims = ok && l.late(s, r, st, &twin); st.claims {
			r.Claim = l.claimOf(s, r, &twin)
		}
	}
}

// demand leaves a waiting job that cannot be stopped only the configurations on which it ends in time. Such a job can
// never grow, so a start on few GPUs would decide its end. If it is too late even for the fastest configuration, it may
// be late by that time once more: a slower one counts if it takes at most as much longer as the job has waited too long
// (as in the ski rental problem). A configuration that found no nodes in the last rounds may still be the fastest.
func (l *limit) demand(s *policy.Snapshot, r *goodput.Row, st *state) {
	twin, ok := l.compare(r.Job().ID)
	if !ok {
		return
	}
	if r.Worth.Factors == nil {
		st.factors = slices.Repeat(append(st.factors[:0], r.Worth.Factor), r.Columns())
		r.Worth.Factors = st.factors
	}
	starts := max(0, r.Job().RestartOverhead.Seconds()) + s.Length.Seconds()
	until := twin.Due.Sub(s.Now).Seconds() + max(grace, l.allowed(s, r.Job(), &twin)) - starts
	rates, fastest := make([]float64, r.Columns()), 0.0
	for k := range rates {
		if rates[k] = linear(s, r, k); r.Allowed(k) {
			fastest = max(fastest, rates[k])
		}
	}
	work := twin.Left * speed(r, &twin)
	least := work / max(1, until, 2*work/fastest-until)
	for k := range rates {
		if rates[k] < least {
			r.Worth.Factors[k] = 0
		}
	}
}

// linear returns the goodput of column k, at most in proportion to the goodput on the GPUs that the job requests. The
// efficiency of large batches grows as a job trains, so the present estimate favours few GPUs.
func linear(s *policy.Snapshot, r *goodput.Row, k int) float64 {
	c := r.Column(k)
	n := grant.Size(r.Job(), c.GPUType)
	return min(r.Goodput(k), r.Share(s.Cluster.TypeIndex(c.GPUType), float64(n))*float64(c.GPUs)/float64(n))
}

func unstoppable(j *policy.Job) bool { return j.NoCheckpoint || j.NonPreemptive }

func (st *state) work(j *policy.Job) backfill.Work {
	if j.Target > 0 {
		return backfill.Work{Done: st.done, Total: max(j.Target, st.done), Stated: true}
	}
	return backfill.Work{Done: st.done, Total: st.done + st.left}
}

func (l *limit) late(s *policy.Snapshot, r *goodput.Row, st *state, twin *backfill.Comparison) bool {
	due := twin.Due.Sub(s.Now).Seconds()
	switch {
	case twin.Left <= 0:
		return false
	case st.claims:
		return twin.Left > due
	}
	lost := max(0, r.Job().RestartOverhead.Seconds()) + st.unsaved + s.Length.Seconds()
	until := due + max(grace, l.allowed(s, r.Job(), twin)) - lost
	return twin.Left > until && twin.Left > until*boost(r, twin)
}

// speed returns the twin's speed as a goodput of r. The goodputs of jobs with a fixed batch size leave out its efficiency.
func speed(r *goodput.Row, twin *backfill.Comparison) float64 {
	j := r.Job()
	if j.Perf == nil || j.Adaptivity.Has(job.BatchSizes) {
		return twin.Rate
	}
	g, _ := goodput.Goodput(j, twin.Configuration)
	return g
}

func boost(r *goodput.Row, twin *backfill.Comparison) float64 {
	if !r.Job().Adaptivity.Has(job.GPUCount) {
		return 1
	}
	return max(1, r.Potential(twin.GPUType, catchUp*twin.GPUs)/speed(r, twin))
}

func (l *limit) allowed(s *policy.Snapshot, j *policy.Job, twin *backfill.Comparison) float64 {
	wait := twin.Started.Sub(twin.Submitted).Seconds()
	margin := l.margin * twin.Due.Sub(twin.Submitted).Seconds()
	switch {
	case j.FirstStarted.IsZero() && large(s, twin):
		return min(fixedPart*margin, firstWait*wait)
	case !j.Adaptivity.Has(job.GPUCount):
		return fixedPart * margin
	}
	return margin
}

func large(s *policy.Snapshot, twin *backfill.Comparison) bool {
	k := s.Cluster.TypeIndex(twin.GPUType)
	return k >= 0 && 2*twin.GPUs > s.Cluster.Types()[k].GPUs
}

// claimOf returns the claim of a late job: the configuration of its twin. A job that adapts its GPU count claims the
// smallest configuration on which it ends in time.
func (l *limit) claimOf(s *policy.Snapshot, r *goodput.Row, twin *backfill.Comparison) goodput.Claim {
	due := twin.Due.Sub(s.Now).Seconds()
	c := goodput.Claim{
		Configuration: twin.Configuration, Rate: speed(r, twin), Due: min(due+max(grace, l.allowed(s, r.Job(), twin)), perf.Endless.Seconds()),
		First: r.Job().FirstStarted.IsZero() && large(s, twin),
	}
	if !r.Job().Adaptivity.Has(job.GPUCount) || unstoppable(r.Job()) {
		return c
	}
	until := max(1, due+l.allowed(s, r.Job(), twin))
	rate := c.Rate * min(boost(r, twin), max(1, twin.Left/until))
	k, ok := r.Reaching(twin.GPUType, catchUp*twin.GPUs, rate)
	if !ok {
		return goodput.Claim{}
	}
	c.Configuration, c.Rate = r.Column(k), min(rate, r.Goodput(k))
	return c
}
