package metrics

import (
	"slices"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
)

type lending struct {
	loans    []cluster.Loan          // latest; none if nothing can be lent
	returned map[cluster.NodeID]bool // given back, still there
	nodes    int
	gpus     int
	busy     int // of gpus, held by jobs
	jobs     int // with some of gpus

	used, paused usage // GPU-seconds up to the last end, and since
	waves        waves
	worth        worth // by the last plan
	appraisals   appraisals
	count        LoanSummary // ratios are computed at the end
}

type usage struct {
	training, trained float64 // not on loan: all, held
	lent, busy        float64 // on loan: all, held
	pool, load        float64 // the owner's: all nodes, its own load
	short             float64 // part of load that lent nodes miss
	wanted            float64
}

func (u *usage) add(now *usage, seconds float64) {
	u.training += seconds * now.training
	u.trained += seconds * now.trained
	u.lent += seconds * now.lent
	u.busy += seconds * now.busy
	u.pool += seconds * now.pool
	u.load += seconds * now.load
	u.short += seconds * now.short
	u.wanted += seconds * now.wanted
}

func (u *usage) of(l *cluster.Loan) {
	gpus, load := float64(l.Node.Capacity.GPUs), l.Load*float64(l.Nodes)
	u.pool += gpus * float64(l.Nodes)
	u.load += gpus * load
	u.short += gpus * max(0, load-float64(l.Nodes-l.Lent))
	u.wanted += gpus * float64(l.Reclaim)
}

func (r *Recorder) usage() usage {
	l := &r.lending
	u := usage{lent: float64(l.gpus), busy: float64(l.busy), training: -float64(l.gpus), trained: -float64(l.busy)}
	for i := range r.gpus.types {
		u.training += float64(r.gpus.capacity[i])
		u.trained += float64(r.gpus.busy[i])
	}
	for i := range l.loans {
		u.of(&l.loans[i])
	}
	return u
}

func (r *Recorder) integrateLoans(seconds float64) {
	if len(r.lending.loans) == 0 {
		return
	}
	sum, now := &r.lending.used, r.usage()
	if len(r.active) == 0 && len(r.ending) == 0 {
		sum = &r.lending.paused
	}
	sum.add(&now, seconds)
}

// setLoans assumes that the first loans hold since the first submission.
func (r *Recorder) setLoans(loans []cluster.Loan) {
	l := &r.lending
	first := len(l.loans) == 0 && len(loans) > 0
	for i := range loans {
		l.countChange(&loans[i])
	}
	l.loans = loans
	if first && !r.submission.IsZero() {
		now := r.usage()
		l.used.add(&now, r.now.Sub(r.submission).Seconds())
	}
}

func (l *lending) countChange(now *cluster.Loan) {
	was := l.last(now.Group)
	if now.Lent > was.Lent {
		l.count.Loans++
		l.count.Nodes += now.Lent - was.Lent
	}
	if now.Reclaim > was.Reclaim {
		l.count.Reclaims++
	}
}

func (l *lending) last(g cluster.Group) cluster.Loan {
	if i := slices.IndexFunc(l.loans, func(o cluster.Loan) bool { return o.Group == g }); i >= 0 {
		return l.loans[i]
	}
	return cluster.Loan{}
}

func (l *lending) setLent(was, c *cluster.Cluster, now time.Time) {
	l.nodes, l.gpus = 0, 0
	for _, n := range c.Nodes() {
		if n.Tenure == cluster.Loaned {
			l.nodes++
			l.gpus += n.Capacity.GPUs
		}
	}
	if was == nil {
		return
	}
	for _, n := range was.Nodes() {
		if _, there := c.Index(n.ID); n.Tenure == cluster.Loaned && !there {
			l.nodeLeft(&n, now)
		}
	}
}

func (l *lending) nodeLeft(n *cluster.Node, now time.Time) {
	if due := l.last(n.Group); !l.returned[n.ID] && due.Reclaim > 0 && !now.Before(due.By) {
		l.count.Taken++
	}
	delete(l.returned, n.ID)
}

func (l *lending) summary() *LoanSummary {
	if len(l.loans) == 0 {
		return nil
	}
	s, u := l.count, &l.used
	s.Training, s.OnLoan = ratio(u.trained, u.training), ratio(u.busy, u.lent)
	s.Overall = ratio(u.trained+u.busy+u.load-u.short, u.training+u.pool)
	s.LentHours, s.BusyHours, s.ShortHours = u.lent/3600, u.busy/3600, u.short/3600
	s.Flexible = ratio(float64(l.waves.flexible), float64(s.Reclaimed))
	s.OfRunning = ratio(float64(s.Preempted), float64(l.waves.running))
	s.OfBorrowing = ratio(float64(s.Preempted), float64(l.waves.borrowing))
	s.Damage = ratio(float64(l.waves.damage), float64(l.waves.gpus))
	s.ReturnCost = ratio(l.waves.lost.Hours(), float64(s.Reclaimed))
	l.appraisals.of(&s)
	return &s
}
