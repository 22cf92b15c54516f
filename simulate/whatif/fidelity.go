package whatif

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/scheduler/journal"
	"github.com/oxgang/oxgang/simulate/sim"
)

// A Match is a completed job of a recorded run, with its times in the recording and in a simulation.
type Match struct {
	Job       job.ID          `json:"job"`
	Real      journal.Seconds `json:"real"`
	Predicted journal.Seconds `json:"predicted"` // end in the simulation; negative if it did not end there
	Error     float64         `json:"error"`     // Predicted / Real - 1; -1 if it did not end in the simulation
	Modelled  bool            `json:"modelled"`  // simulated from its reports; otherwise from the time that it held GPUs
}

// A Fidelity states how accurately a simulation reproduces a recorded run.
type Fidelity struct {
	Jobs  []Match `json:"jobs"`
	Mean  float64 `json:"mean"` // mean absolute error of the matches; 0 without jobs
	Worst float64 `json:"worst"`
	// Real and Predicted are the makespans: from the first submission to the last end of Jobs. RealJCT and
	// PredictedJCT are means over the jobs that ended in the simulation.
	Real         journal.Seconds `json:"real_makespan"`
	Predicted    journal.Seconds `json:"predicted_makespan"`
	RealJCT      journal.Seconds `json:"real_jct"`
	PredictedJCT journal.Seconds `json:"predicted_jct"`
	// RealWait and PredictedWait are mean times from submission to the first start, over the jobs that started
	// in both. RealUtilisation and PredictedUtilisation are shares of the GPU time of the nodes at the
	// beginning, until the last of Jobs ended.
	RealWait             journal.Seconds `json:"real_wait"`
	PredictedWait        journal.Seconds `json:"predicted_wait"`
	RealUtilisation      float64         `json:"real_utilisation"`
	PredictedUtilisation float64         `json:"predicted_utilisation"`
	Round                journal.Seconds `json:"round"`
	Restored             int             `json:"restored"` // jobs from before the recording
	Reserved             int             `json:"reserved"`
	Restart              journal.Seconds `json:"restart"` // mean time of a start; 0: not measured
	// Ended counts jobs that were cancelled or failed; they are simulated until then. Open counts jobs that had not
	// ended.
	Ended int `json:"ended"`
	Open  int `json:"open"`
	// Lost counts jobs' losses of GPUs by failures; Nodes counts changes of nodes. The simulation repeats both, and
	// loans, but not rentals.
	Lost      int  `json:"lost"`
	Nodes     int  `json:"nodes"`
	Truncated bool `json:"truncated"` // the journal was cut off
	Refused   int  `json:"refused"`   // simulated plans that broke a rule

	before journal.Seconds // part of the makespans before the recording
}

// A simulation stops after longer times the recorded rounds plus slowStart rounds.
const (
	longer    = 4
	slowStart = 200
)

// Compare simulates a recorded run again with a new policy, and compares when jobs end. r must be at its first record.
// Submissions, failures and changes of nodes happen at the recorded times. o has the options of the run; Measured and
// Between are ignored, and Rounds, if above 0, limits the simulation.
func Compare(ctx context.Context, r *journal.Reader, o Options) (*Fidelity, error) {
	t, err := NewResimulator(r, o)
	if err != nil {
		return nil, err
	}
	in, err := t.rec.play(ctx, t.header.Cluster, t.scheduler, &t.options)
	if err != nil {
		return nil, fmt.Errorf("whatif: %w", err)
	}
	t.rec.compare(in)
	t.rec.compareService(t.rec.simulated)
	return t.rec.result, nil
}

type recording struct {
	*Learner
	header    *journal.Header
	result    *Fidelity
	outages   *outages
	usage     usage
	held      *service
	simulated *service
	last      time.Duration
	phases    map[time.Duration]int // number of rounds by time modulo the length of a round
	rounds    int
}

func (rec *recording) read(r *journal.Reader) error {
	for {
		one, err := r.Read()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, journal.ErrTruncated):
			rec.result.Truncated = true
			return nil
		case err != nil:
			return err
		}
		rec.take(&one)
	}
}

func (rec *recording) take(one *journal.Record) {
	rec.last = one.At
	now := rec.header.Start.Add(one.At)
	if one.Round != nil {
		rec.rounds++
		rec.phases[one.At%rec.header.Round]++
		rec.acted(now, one.Round.Actions)
		rec.held.acted(now, one.Round.Actions)
		return
	}
	if ev, ok := one.Event.(scheduler.NodesChanged); ok {
		rec.result.Nodes++
		rec.usage.changed(one.At, ev.Loans)
	}
	switch ev := one.Event.(type) {
	case scheduler.Restored:
		rec.result.Restored++
		rec.reserved(ev.Spec)
	case scheduler.Submitted:
		rec.reserved(ev.Spec)
	}
	rec.outages.event(one.At, one.Event, rec.jobs)
	rec.Event(now, one.Event)
	rec.held.event(now, one.Event)
}

func (rec *recording) phase() time.Duration {
	var most time.Duration
	for at, n := range rec.phases {
		if had := rec.phases[most]; n > had || n == had && at < most {
			most = at
		}
	}
	return most
}

func (rec *recording) reserved(s *job.Spec) {
	if s.Reservation != (cluster.Configuration{}) {
		rec.result.Reserved++
	}
}

func (rec *recording) play(ctx context.Context, nodes *cluster.Cluster, so scheduler.Options, o *Options, obs ...scheduler.Observer) (*setting, error) {
	nodes, err := rec.outages.all(nodes)
	if err != nil {
		return nil, err
	}
	in := rec.setting(nodes, so)
	rounds := longer*int(rec.last/so.Round) + slowStart
	if o.Rounds > 0 {
		rounds = min(rounds, o.Rounds)
	}
	w := &simulatedWorld{outcomes: in.outcomes, open: in.open, rounds: rounds, asked: rec.asked(), spec: map[job.ID]*job.Spec{}, held: newService()}
	if w.World, err = sim.New(in.cluster, in.catalog, in.arrivals, in.options); err != nil {
		return nil, err
	}
	p, placer, err := o.Fresh()
	if err != nil {
		return nil, err
	}
	sch, err := scheduler.New(p, placer, in.cluster, so)
	if err != nil {
		return nil, err
	}
	err = sch.Run(ctx, w, append([]scheduler.Observer{w}, obs...)...)
	rec.result.Refused = w.refused
	rec.simulated = w.held
	return in, err
}

func (rec *recording) asked() map[job.ID]*job.Spec {
	all := make(map[job.ID]*job.Spec)
	for _, j := range rec.order {
		if j.submitted != nil && j.submitted != j.spec {
			all[j.spec.ID] = j.submitted
		}
	}
	return all
}

func (rec *recording) compare(in *setting) {
	f := rec.result
	f.Lost, f.Restart = rec.lost, journal.Seconds(rec.restart())
	var first, last, twin time.Time
	ended := journal.Seconds(0)
	for _, j := range rec.order {
		switch {
		case j.ended.IsZero():
			f.Open++
			continue
		case j.outcome != scheduler.Done:
			f.Ended++
			continue
		}
		m := Match{Job: j.spec.ID, Real: journal.Seconds(j.ended.Sub(j.since)), Predicted: -1, Error: -1, Modelled: in.truths[j.spec.ID] != nil}
		if end := in.outcomes[j.spec.ID].end; end >= 0 {
			at := rec.header.Start.Add(end)
			m.Predicted = journal.Seconds(at.Sub(j.since))
			m.Error = float64(m.Predicted)/max(1, float64(m.Real)) - 1
			twin = later(twin, at)
			f.RealJCT, f.PredictedJCT, ended = f.RealJCT+m.Real, f.PredictedJCT+m.Predicted, ended+1
		}
		if first.IsZero() || j.since.Before(first) {
			first = j.since
		}
		last = later(last, j.ended)
		f.Jobs = append(f.Jobs, m)
		f.Worst = max(f.Worst, math.Abs(m.Error))
		f.Mean += math.Abs(m.Error)
	}
	if len(f.Jobs) > 0 {
		f.Mean /= float64(len(f.Jobs))
		f.RealJCT, f.PredictedJCT = f.RealJCT/max(1, ended), f.PredictedJCT/max(1, ended)
		f.Real, f.Predicted = journal.Seconds(last.Sub(first)), journal.Seconds(max(0, twin.Sub(first)))
		f.before = journal.Seconds(max(0, rec.header.Start.Sub(first)))
	}
}

func (rec *recording) compareService(twin *service) {
	f, n := rec.result, journal.Seconds(0)
	for id := range rec.held.first {
		was, ok := rec.held.wait(id)
		is, too := twin.wait(id)
		if ok && too {
			f.RealWait, f.PredictedWait, n = f.RealWait+journal.Seconds(was), f.PredictedWait+journal.Seconds(is), n+1
		}
	}
	f.RealWait, f.PredictedWait = f.RealWait/max(1, n), f.PredictedWait/max(1, n)
	gpus := float64(rec.header.Cluster.GPUs())
	f.RealUtilisation = rec.held.done / max(1, gpus*seconds(f.Real-f.before))
	f.PredictedUtilisation = twin.done / max(1, gpus*seconds(f.Predicted-f.before))
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func (l *Learner) restart() time.Duration {
	total, n := time.Duration(0), 0
	for _, j := range l.order {
		total, n = total+j.delay, n+j.delays
	}
	return total / time.Duration(max(1, n))
}

func (l *Learner) interval() time.Duration {
	var all []time.Duration
	for _, j := range l.order {
		all = append(all, j.every...)
	}
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[(len(all)-1)/2]
}

func seconds(s journal.Seconds) float64 { return time.Duration(s).Seconds() }
