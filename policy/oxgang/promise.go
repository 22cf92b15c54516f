package oxgang

import (
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/backfill"
	"github.com/oxgang/oxgang/policy/goodput"
)

// The promise. A job takes no longer than (1 + Options.Margin) times as long as it would under EASY
// backfilling, and a job that needs more than half of the GPUs of a type waits for its first start no longer
// than 1.1 times as long. Package backfill keeps that schedule; a job's counterpart in it is its twin.
//
// How it is kept. A job's lag is the time by which it will end later than its twin if it trains at the speed of its
// twin from now on. A job may wait, shrink or be preempted while
//
//	lag + restart + lost work + one round  ≤  claimAt · margin · (time from submission to end of its twin)
//
// Then it claims the speed of its twin (goodput.Claim), until its lag is 0. What claimAt leaves of the margin
// is for what the lag cannot foresee: restarts, GPUs that are scattered over nodes, and wrong estimates.
//
// Why claims fit together. Twins that run at the same time hold different GPUs, and a job claims no more
// than its twin has. Only jobs whose twins have ended can be in the way of others. Large jobs that have not started go
// first, then the job that is due first.
//
// Example. On 64 GPUs, a job of 64 GPUs that runs for 1 h is submitted while small jobs keep coming. Under EASY it starts after
// 2 h. It claims its GPUs 12 min after that (less a restart and a round), all others are preempted, and it ends after 3.2 h.
//
// There is no promise while nodes are rented or on loan, or between jobs of different priorities.

const (
	grace     = 300 // seconds of lag that every job may have
	claimAt   = 0.6 // part of the margin at which a job claims its speed
	firstWait = 0.1 // part of its wait under EASY by which the first start of a large job may be later
)

// promise sets what each row claims.
func (p *Policy) promise(s *policy.Snapshot, rows []*goodput.Row) {
	for _, r := range rows {
		r.Claim = goodput.Claim{}
	}
	if p.o.Margin == 0 || len(s.Loans) > 0 || len(s.Rentals) > 0 {
		return
	}
	p.easy.Advance(s, func(i int) backfill.Work { return p.active[i].work(s.Jobs[i]) })
	for i, r := range rows {
		st := p.active[i]
		twin, ok := p.easy.Standing(r.Job().ID)
		if st.claims = ok && r.Job().Phase != job.Profiling && p.late(s, r.Job(), st, &twin); st.claims {
			r.Claim = claim(s, r, &twin)
		}
	}
}

// work is what is believed of the work of a job.
func (st *state) work(j *policy.Job) backfill.Work {
	if j.Target > 0 {
		return backfill.Work{Done: st.done, Total: max(j.Target, st.done), Stated: true}
	}
	return backfill.Work{Done: st.done, Total: st.done + st.left}
}

// late reports whether a job must train at the speed of its twin in this round. It stays late until its lag is 0.
func (p *Policy) late(s *policy.Snapshot, j *policy.Job, st *state, twin *backfill.Standing) bool {
	lag := twin.Left - twin.Due.Sub(s.Now).Seconds()
	if st.claims {
		return lag > 0
	}
	wait := twin.Started.Sub(twin.Submitted).Seconds()
	allowed := claimAt * p.o.Margin * (wait + twin.Total/twin.Rate)
	if j.FirstStarted.IsZero() && large(s, twin) {
		allowed = min(allowed, firstWait*wait)
	}
	lost := max(0, j.RestartOverhead.Seconds()) + st.unsaved + s.Length.Seconds()
	return lag+lost > max(grace, allowed)
}

// large reports whether a twin holds more than half of the GPUs of its type.
func large(s *policy.Snapshot, twin *backfill.Standing) bool {
	for _, t := range s.Cluster.Types() {
		if t.Type == twin.GPUType {
			return 2*twin.GPUs > t.GPUs
		}
	}
	return false
}

// claim returns what a late job claims: the configuration of its twin; for a job that adapts its GPU count
// the smallest one that is as fast.
func claim(s *policy.Snapshot, r *goodput.Row, twin *backfill.Standing) goodput.Claim {
	c := goodput.Claim{
		Configuration: twin.Configuration, Rate: twin.Rate, Due: twin.Due.Sub(s.Now).Seconds(),
		First: r.Job().FirstStarted.IsZero() && large(s, twin),
	}
	if r.Job().Adaptivity.Has(job.GPUCount) {
		c.Configuration, c.Rate = cluster.Configuration{}, 0
		if k, ok := r.Reaching(twin.GPUType, 2*twin.GPUs, twin.Rate); ok {
			c.Configuration, c.Rate = r.Column(k), min(twin.Rate, r.Goodput(k))
		}
	}
	return c
}
