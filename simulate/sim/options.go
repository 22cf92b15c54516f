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

// Options configure a World. Start from DefaultOptions; the zero value is invalid.
type Options struct {
	Seed uint64
	// ReportInterval is the interval of reports and of batch size tuning. Default 30 s (Sia
	// §3.3.1).
	ReportInterval time.Duration
	Noise          Noise
	Faults         Faults
	Provider       Provider // the provider of rented nodes
	Lender         Lender   // the owner of nodes on loan
	Costs
	// Public selects rules of published simulators that differ from the papers.
	Public Public
	// ReportEpochs makes agents report the end of each epoch, so that the scheduler can measure its length.
	// Default false.
	ReportEpochs bool
	// Sparse omits repeated reports from which nothing is estimated. Jobs do exactly the same; events of one
	// instant may change order. Nothing may then use the progress of running jobs, which is older
	// (policy.Traits.IgnoresProgress). Default false.
	Sparse bool
	// Initial has the jobs that existed before the world. Default: none.
	Initial map[job.ID]*InitialState
	// Estimate configures how agents estimate speeds; use the same options for the scheduler.
	Estimate estimate.Options
}

// Costs are the durations of starts, moves and checkpoints.
type Costs struct {
	// Checkpoint is the interval of checkpoints; 0: at the end of every epoch. Default 0 (Sia
	// §3.3.5).
	Checkpoint time.Duration
	// Restart is the duration of every start and move; nil: as stated by the application.
	Restart *time.Duration
	// FreeStart makes the first start of a job free. Default false.
	FreeStart bool
	// CrossRack multiplies the time of gradient exchange of a job in several racks; 0 or 1: no effect. Default 0.
	CrossRack float64
}

// Noise configures random deviations of speeds and reports from the profiles.
type Noise struct {
	Report float64 // relative standard deviation of each reported time
	Bias   float64 // relative standard deviation of a factor on all reported times, drawn once per job and GPU type
	// Straggler is the probability that a start gets slow GPUs, on which a step takes Slow times the usual time.
	Straggler float64
	Slow      float64
}

// Faults configure failures and maintenance. A mean time of 0 means none.
type Faults struct {
	NodeMTBF    time.Duration // mean time between failures of one node
	Repair      time.Duration // until a failed node is back
	GPUMTBF     time.Duration // mean time between failures of one GPU: its job loses all GPUs, the GPU works again at once
	Maintenance []Window
	Losses      []Loss
}

// A Window is a period in which some nodes are unavailable. Jobs on them lose their GPUs at its start; they save a
// checkpoint first unless Failed is set.
type Window struct {
	Nodes    []cluster.NodeID
	From, To time.Duration // since the start
	Failed   bool          // no checkpoint is saved
}

// A Loss is a failure of one job. The job loses its GPUs, and later continues from its last checkpoint.
type Loss struct {
	Job job.ID
	At  time.Duration // since the start
}

// Public selects rules of the published simulators of Sia, Gavel and Shockwave, to reproduce their results.
type Public struct {
	RoundEpochs    bool // the rest of an epoch takes a whole number of seconds
	RetuneOnEpoch  bool // batch sizes are tuned at the end of every epoch
	WideBatchRange bool // agents may use batch sizes up to the largest profiled one, despite a submitted limit

	ExitOnRound     bool // jobs report and exit only at the end of a round; a complete job keeps its GPUs until then
	WholeIterations bool // an incomplete iteration at the end of a round is lost; needs ExitOnRound, and excludes jobs with a training curve

	// WholeRounds makes jobs do only whole steps (passes of one GPU) in a round; the round ends with the last step.
	// Starts take no time. Source: Gavel simulator.
	WholeRounds bool
	// ResumeLoss is the training time that a job loses in a round if it did not run in the round before. Needs
	// WholeRounds. Source: Shockwave simulator.
	ResumeLoss time.Duration
	// LateRegimes delays batch size changes of a schedule: a job decides at the end of a round and changes at
	// the end of its next. Needs WholeRounds. Source: Shockwave simulator.
	LateRegimes bool
}

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

// DefaultOptions returns the settings of the Sia thesis.
func DefaultOptions() Options {
	return Options{Seed: 1, ReportInterval: 30 * time.Second, Provider: DefaultProvider(), Lender: DefaultLender()}
}

func rare(mtbf time.Duration) bool { return mtbf == 0 || mtbf >= time.Second }

// Validate returns all errors in o, joined.
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
	if !(n.Straggler >= 0 && n.Straggler <= 1) || (n.Straggler > 0 || n.Slow != 0) && !(n.Slow >= 1) {
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
