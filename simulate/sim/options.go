package sim

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf/estimate"
)

// Options configure a World. Start from DefaultOptions: the zero value is not valid, because its
// report interval is zero.
type Options struct {
	Seed uint64
	// ReportInterval is how often agents report and re-tune their batch size.
	// Default 30 s (Sia §3.3.1).
	ReportInterval time.Duration
	Noise          Noise
	Faults         Faults
	Provider       Provider // of rented nodes
	Lender         Lender   // of nodes on loan
	Costs
	// Public switches on rules of the public simulator that the thesis does
	// not have.
	Public Public
	// ReportEpochs lets agents report, without measurements, when an epoch ends, so that the
	// scheduler learns how long an epoch is. Default false.
	ReportEpochs bool
	// Sparse lets agents leave out reports like the last one, of which they learned nothing; others learn nothing of them
	// either. What jobs do, and when, is the same to the last digit; events of one instant may come in another order. But of a
	// running job the scheduler and its observers know an older progress, so neither they nor the policy may look at that
	// (policy.Traits.IgnoresProgress). Default false.
	Sparse bool
	// Initial are the jobs that existed before the world began. Default: none.
	Initial map[job.ID]*InitialState
	// Estimate configures how agents learn; the scheduler's should be the same.
	Estimate estimate.Options
}

// Costs are what it takes to start and move jobs.
type Costs struct {
	// Checkpoint is the time between checkpoints of a running job; 0: one at the end of every
	// epoch. Default 0 (Sia §3.3.5).
	Checkpoint time.Duration
	// Restart is how long every start and move takes; nil: what the application says.
	Restart *time.Duration
	// FreeStart makes the first start of a job cost nothing. Default false.
	FreeStart bool
	// CrossRack is how many times as long the exchange of gradients takes where a job's nodes are in several racks;
	// 0 or 1: no longer. Default 0.
	CrossRack float64
}

// Noise is how reports, and speeds, differ from the profiles.
type Noise struct {
	Report float64 // relative standard deviation of each reported time
	Bias   float64 // relative standard deviation of a factor drawn once per job and GPU type, by which all its reports are wrong
	// Straggler is the probability that a start lands on slow GPUs, which then
	// take Slow times as long.
	Straggler float64
	Slow      float64
}

// Faults configure failures and maintenance. A mean time of zero means that nothing fails.
type Faults struct {
	NodeMTBF    time.Duration // mean time between failures of one node
	Repair      time.Duration // until a failed node is back
	GPUMTBF     time.Duration // mean time between failures of one GPU: its job loses all GPUs, the GPU works on
	Maintenance []Window
	Losses      []Loss
}

// A Window is a time in which nodes are away. When it begins, the jobs on them save a checkpoint,
// unless the nodes fail, and lose their GPUs.
type Window struct {
	Nodes    []cluster.NodeID
	From, To time.Duration // since the start
	Failed   bool          // the nodes fail: no checkpoint is saved
}

// A Loss is a failure of one job, which loses its GPUs if it holds any, and goes on from its last
// checkpoint when it is given GPUs again.
type Loss struct {
	Job job.ID
	At  time.Duration // since the start
}

// Public are rules of the public simulators; see reference in docs/experiments.
type Public struct {
	RoundEpochs    bool // the rest of an epoch takes a whole number of seconds
	RetuneOnEpoch  bool // batch sizes are chosen anew at the end of every epoch
	WideBatchRange bool // agents may use batch sizes up to the largest profiled, whatever limit was submitted

	ExitOnRound     bool // jobs report and exit only at the end of a round; a job that is complete keeps its GPUs until then
	WholeIterations bool // an iteration that is not complete at the end of a round is lost; needs ExitOnRound, and does not apply to jobs with a training curve

	// WholeRounds lets jobs make a whole number of steps in a round; a step is a pass of one
	// GPU. The round ends when the last job has made its steps. Starts take no time.
	// Source: Gavel simulator.
	WholeRounds bool
	// ResumeLoss is the training time that a job loses in a round that it trains through to the
	// end, if it did not run in the round before. It needs WholeRounds. Source: Shockwave
	// simulator.
	ResumeLoss time.Duration
	// LateRegimes makes a job with a batch size schedule change its batch size one round late: it
	// decides at the end of a round, and changes at the end of the next round in which it runs.
	// It needs WholeRounds. Source: Shockwave simulator.
	LateRegimes bool
}

// validate returns an error if rules of p exclude each other.
func (p *Public) validate() error {
	switch {
	case p.ResumeLoss < 0:
		return fmt.Errorf("resume loss %v, want at least 0", p.ResumeLoss)
	case !p.WholeRounds && (p.ResumeLoss > 0 || p.LateRegimes):
		return fmt.Errorf("resume loss %v, late regimes %v: want whole rounds with them", p.ResumeLoss, p.LateRegimes)
	case p.WholeIterations && !p.ExitOnRound:
		return errors.New("whole iterations, want exit on round with them: what a job did is counted at its end")
	case p.WholeRounds && p.ExitOnRound:
		return errors.New("whole rounds and exit on round, want one of them: they end rounds differently")
	}
	return nil
}

// DefaultOptions returns the thesis' settings.
func DefaultOptions() Options {
	return Options{Seed: 1, ReportInterval: 30 * time.Second, Provider: DefaultProvider(), Lender: DefaultLender()}
}

// rare reports whether a mean time between failures is 0, which is never, or long enough to be
// simulated.
func rare(mtbf time.Duration) bool { return mtbf == 0 || mtbf >= time.Second }

// Validate returns an error that joins all that is wrong with o.
func (o *Options) Validate() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if o.ReportInterval <= 0 {
		bad("report interval %v, want more than 0", o.ReportInterval)
	}
	if o.Checkpoint < 0 {
		bad("checkpoint interval %v, want at least 0", o.Checkpoint)
	}
	if o.Restart != nil && *o.Restart < 0 {
		bad("restart time %v, want at least 0", *o.Restart)
	}
	if !(o.CrossRack >= 0) || math.IsInf(o.CrossRack, 1) || o.CrossRack > 0 && o.CrossRack < 1 {
		bad("exchange across racks takes %v times as long, want 0 (no longer) or at least 1", o.CrossRack)
	}
	return errors.Join(append(errs, o.Noise.validate(), o.Faults.validate(), o.Public.validate(), o.Provider.validate(), o.Lender.validate())...)
}

func (n *Noise) validate() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	for i, v := range []float64{n.Report, n.Bias} {
		if !(v >= 0 && v <= 1) {
			bad("%s %v, want 0 to 1", [...]string{"report noise", "bias"}[i], v)
		}
	}
	if !(n.Straggler >= 0 && n.Straggler <= 1) || n.Straggler > 0 && !(n.Slow >= 1) {
		bad("stragglers: probability %v, slowed by %v; want 0 to 1, at least 1", n.Straggler, n.Slow)
	}
	return errors.Join(errs...)
}

func (f *Faults) validate() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if !rare(f.NodeMTBF) || !rare(f.GPUMTBF) || f.NodeMTBF > 0 && f.Repair <= 0 {
		bad("faults: node MTBF %v, GPU MTBF %v, repair %v; want 0 or at least 1s, and a repair time", f.NodeMTBF, f.GPUMTBF, f.Repair)
	}
	for i, w := range f.Maintenance {
		if w.From < 0 || w.To <= w.From {
			bad("maintenance window %d: from %v to %v, want a time that passes", i, w.From, w.To)
		}
	}
	for _, l := range f.Losses {
		if l.At < 0 {
			bad("failure of job %s at %v, want at least 0", l.Job, l.At)
		}
	}
	return errors.Join(errs...)
}
