package manager

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/oxgang/oxgang/api/v1alpha1"
	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/live/eventqueue"
	"github.com/oxgang/oxgang/live/kube"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/whatif"
)

// How far it is looked ahead, and how much that may cost.
const (
	lookFor   = 10 * time.Second // the longest look
	lookRests = 9                // times as long as a look it is rested after it
	mostAsked = 20               // jobs that wait, the first ones, for which it is asked what would help
	lookEvery = time.Minute      // a look where nothing happens: plans say what is new as rarely
)

// An outlook says what is expected of the jobs of a queue. It looks ahead after rounds before
// which something has happened, or that do something, and beside them: one look at a time, and
// a tenth of the time at most. It is an Observer of the queue's scheduler.
type outlook struct {
	log   *slog.Logger
	queue string
	ahead *whatif.Lookout // nil: nobody looks
	bell  chan struct{}

	news bool      // something has happened since it was rung; the scheduler's
	rung time.Time // when that was, in the scheduler's time

	mu   sync.Mutex
	seen map[job.ID]kube.Expected // nil: nothing yet; not to be changed
}

var _ scheduler.Observer = (*outlook)(nil)

func newOutlook(log *slog.Logger, q *v1alpha1.Queue) *outlook {
	return &outlook{log: log, queue: q.Name, bell: make(chan struct{}, 1)}
}

// begin makes it look ahead with ahead. Call it before the first round, or never.
func (o *outlook) begin(ahead *whatif.Lookout) { o.ahead = ahead }

// Event implements scheduler.Observer.
func (o *outlook) Event(now time.Time, ev scheduler.Event) {
	o.ahead.Event(now, ev)
	o.news = true
}

// Round implements scheduler.Observer.
func (o *outlook) Round(s *policy.Snapshot, p *policy.Plan, acts []scheduler.Action) {
	o.ahead.Round(s, p, acts)
	if o.news || len(acts) > 0 || s.Now.Sub(o.rung) >= lookEvery {
		o.news, o.rung = false, s.Now
		eventqueue.Wake(o.bell)
	}
}

// expected returns what the last look said of each job; nil before the first.
func (o *outlook) expected() map[job.ID]kube.Expected {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.seen
}

// run looks ahead after rounds until ctx is done, and returns nil.
func (o *outlook) run(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-o.bell:
		}
		began := time.Now()
		if err := o.look(ctx); err != nil {
			o.log.Warn("what is expected of jobs is not known", "queue", o.queue, "err", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(lookRests * time.Since(began)):
		}
	}
}

// look looks ahead once. A mistake in what is only for people must not end what serves the
// queue: a panic is an error here.
func (o *outlook) look(ctx context.Context) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("looking ahead panicked: %v", r)
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, lookFor)
	defer cancel()
	etas, from := o.ahead.Look(ctx)
	s, options := o.ahead.State()
	if s == nil {
		return nil
	}
	all := make(map[job.ID]kube.Expected, len(etas))
	for id, e := range etas {
		all[id] = kube.Expected{ETA: eta(&e, from)}
	}
	before := o.expected()
	for _, j := range waiting(s) {
		x := all[j.ID]
		x.Unblock = before[j.ID].Unblock // if there is no time to ask anew
		if change, err := whatif.Unblock(ctx, s, j.ID, options); err == nil {
			x.Unblock = clause(change, s)
		}
		all[j.ID] = x
	}
	if ctx.Err() != nil && len(etas) == 0 {
		return fmt.Errorf("not found out in %v: %w", lookFor, ctx.Err())
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.seen = all
	return nil
}

// waiting returns the first jobs of a snapshot that hold no GPUs.
func waiting(s *policy.Snapshot) []*policy.Job {
	var all []*policy.Job
	for _, j := range s.Jobs {
		if !j.Holding() && len(all) < mostAsked {
			all = append(all, j)
		}
	}
	return all
}

// clause says a change with the name of a job in place of its uid, and without how long it is
// until that job ends: who reads it does so at another time, and finds the end in the plan.
func clause(c *whatif.Change, s *policy.Snapshot) string {
	then := *c
	then.In = -1
	for _, j := range s.Jobs {
		if j.ID == c.Job {
			then.Job = job.ID(j.Name)
		}
	}
	return then.String()
}

// eta returns when something is to happen that was foreseen at a time; nil: not known.
func eta(e *whatif.ETA, from time.Time) *v1alpha1.ETA {
	all := &v1alpha1.ETA{Start: timeRange(&e.Start, from), End: timeRange(&e.End, from)}
	if all.Start == nil && all.End == nil {
		return nil
	}
	return all
}

// timeRange returns a range as times in whole seconds, as the API keeps them.
func timeRange(r *whatif.Range, from time.Time) *v1alpha1.TimeRange {
	if r.Why != whatif.Known {
		return nil
	}
	at := func(d time.Duration) *metav1.Time {
		t := metav1.NewTime(from.Add(d).Truncate(time.Second))
		return &t
	}
	if r.Open {
		return &v1alpha1.TimeRange{Earliest: at(r.Early)}
	}
	return &v1alpha1.TimeRange{Earliest: at(r.Early), Latest: at(r.Late)}
}
