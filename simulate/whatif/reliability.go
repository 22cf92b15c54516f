package whatif

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/scheduler/calibration"
	"github.com/oxgang/oxgang/scheduler/journal"
)

// Levels are the probabilities for which a Reliability tests ranges.
var Levels = [...]float64{0.5, calibration.Share, 0.95}

// A Reliability counts how many predicted ranges of one kind were right in a recorded run. Each prediction uses only
// what had been measured before.
type Reliability struct {
	Phase   string               `json:"phase"`
	Ranges  int                  `json:"ranges"`  // number of ranges with probability calibration.Share whose outcome is known
	Unknown int                  `json:"unknown"` // number of predictions without a range
	Stated  [len(Levels)]float64 `json:"stated"`  // the probabilities Levels
	Held    [len(Levels)]float64 `json:"held"`    // fractions of right ranges among those with a known outcome, parallel to Stated
	// Exact is the fraction of Ranges in which both simulations of Ahead were right within a round.
	Exact float64 `json:"exact"`
	// Rest is the fraction of right ranges among the other Ranges; 0 if there are none.
	Rest float64 `json:"rest"`
	// Width is the median width of Ranges divided by the real remaining time; 0 without ranges.
	Width float64 `json:"width"`
}

const auditLooks = 100

// Reliable replays journal r, makes the predictions that a live run would make, and returns how many ranges of each
// kind were right. r must be at its first record. A range is wrong once it has passed before the job started or ended.
func Reliable(ctx context.Context, r *journal.Reader, rounds int, o Options) ([]Reliability, error) {
	h, so := r.Header(), o.Scheduler
	so.Round = h.Round
	begun, err := o.begin(r)
	if err != nil {
		return nil, fmt.Errorf("whatif: %w", err)
	}
	a := &audit{Predictor: NewPredictor(o.Fresh, so, h.Cluster.Types()), ctx: ctx, every: max(1, rounds/auditLooks), round: h.Round, open: map[job.ID][]*audited{}}
	a.stating, a.Decided = a.stated, DecidedBy(begun.memory.policy, o.Fresh)
	if begun.resumed {
		a.learn = begun.memory.learner
	}
	err = begun.run(ctx, begun.backend, a)
	if err != nil && !errors.Is(err, journal.ErrTruncated) && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("whatif: %w", err)
	}
	a.close(begun.backend.Now())
	return a.result(), nil
}

type audited struct {
	phase  calibration.Phase
	at     time.Time
	guess  calibration.Guess
	ranges [len(Levels)]calibration.Range
}

type audit struct {
	*Predictor
	ctx           context.Context
	every, rounds int
	round         time.Duration
	open          map[job.ID][]*audited
	all           [calibration.Phases]Reliability
	known         [calibration.Phases][len(Levels)]int
	widths        [calibration.Phases][]float64
	exact, rest   [calibration.Phases]int // exact guesses, and held ranges of the others
}

func (a *audit) stated(s *policy.Snapshot, p calibration.Phase, id job.ID, g Guess) {
	if g.Why != Known {
		a.all[p].Unknown++
		return
	}
	x := &audited{phase: p, at: s.Now, guess: g.Guess}
	for i, share := range Levels {
		x.ranges[i] = a.record.Wide(s.Now, p, g.Guess, share)
	}
	a.open[id] = append(a.open[id], x)
}

func (a *audit) Event(now time.Time, ev scheduler.Event) {
	a.Predictor.Event(now, ev)
	if e, ok := ev.(scheduler.Exited); ok && e.Outcome != scheduler.Lost {
		if e.Outcome == scheduler.Done {
			a.test(now, e.Job, calibration.WaitingEnd)
			a.test(now, e.Job, calibration.RunningEnd)
		}
		a.overdue(now, e.Job)
	}
}

func (a *audit) Round(s *policy.Snapshot, p *policy.Plan, acts []scheduler.Action) {
	if s == nil {
		return
	}
	for _, act := range acts {
		if r, ok := act.(scheduler.Run); ok {
			a.test(s.Now, r.Job, calibration.Start)
		}
	}
	a.Predictor.Round(s, p, acts)
	if a.rounds++; a.rounds%a.every == 0 {
		a.LookFor(a.ctx)
	}
}

func (a *audit) test(now time.Time, id job.ID, p calibration.Phase) {
	a.open[id] = slices.DeleteFunc(a.open[id], func(x *audited) bool {
		if x.phase != p {
			return false
		}
		after := now.Sub(x.at)
		exact := x.guess.Exact(after, a.round)
		if exact {
			a.exact[p]++
		}
		for i := range x.ranges {
			holds := x.ranges[i].Holds(after, a.round)
			a.count(p, i, holds)
			if Levels[i] == calibration.Share {
				wide := x.ranges[i].Late - x.ranges[i].Early
				a.widths[p] = append(a.widths[p], wide.Seconds()/max(after, a.round).Seconds())
				if holds && !exact {
					a.rest[p]++
				}
			}
		}
		return true
	})
}

// overdue counts the ranges of a job that have not come true and no longer can, and forgets the job.
func (a *audit) overdue(now time.Time, id job.ID) {
	for _, x := range a.open[id] {
		for i := range x.ranges {
			if x.ranges[i].Overdue(now.Sub(x.at), a.round) {
				a.count(x.phase, i, false)
			}
		}
	}
	delete(a.open, id)
}

func (a *audit) close(now time.Time) {
	for id := range a.open {
		a.overdue(now, id)
	}
}

func (a *audit) count(p calibration.Phase, level int, holds bool) {
	a.known[p][level]++
	if holds {
		a.all[p].Held[level]++
	}
	if Levels[level] == calibration.Share {
		a.all[p].Ranges++
	}
}

func (a *audit) result() []Reliability {
	all := make([]Reliability, calibration.Phases)
	for p := range all {
		all[p] = a.all[p]
		all[p].Phase, all[p].Stated = calibration.Phase(p).String(), Levels
		for i := range all[p].Held {
			all[p].Held[i] /= float64(max(1, a.known[p][i]))
		}
		all[p].Exact = float64(a.exact[p]) / float64(max(1, all[p].Ranges))
		all[p].Rest = float64(a.rest[p]) / float64(max(1, all[p].Ranges-a.exact[p]))
		if w := a.widths[p]; len(w) > 0 {
			slices.Sort(w)
			all[p].Width = w[(len(w)-1)/2]
		}
	}
	return all
}
