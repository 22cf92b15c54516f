package run

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/registry"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/scheduler/journal"
	"github.com/oxgang/oxgang/scheduler/metrics"
	"github.com/oxgang/oxgang/simulate/config"
	"github.com/oxgang/oxgang/simulate/sim"
)

// Header returns the journal header of a run, from which Origin can restore the run's inputs.
func Header(c *config.Config, in *Inputs, policy, tool string) journal.Header {
	h := journal.Header{
		Tool: tool, Policy: policy, Seed: c.Sim.Seed, Start: sim.Epoch, Round: c.Scheduler.Round, Cluster: in.Cluster,
	}
	if entry, err := registry.Find(policy); err == nil {
		h.Cluster = nodesFor(in.Cluster, entry.Traits())
	}
	for _, k := range config.Keys() {
		h.Settings = append(h.Settings, journal.Setting{Name: k.Name, Value: c.Get(k.Name)})
	}
	return h
}

// Origin restores the configuration and inputs of a recorded simulation from the header of its journal. It returns an
// error if the recording is not of a simulation or the inputs cannot be read.
func Origin(h *journal.Header, files Files) (*config.Config, *Inputs, error) {
	c := config.Default()
	for _, s := range h.Settings {
		if c.Get(s.Name) == s.Value { // setting a default would count as chosen, which changes the settings of some policies
			continue
		}
		if err := c.Set(s.Name, s.Value, "journal"); err != nil {
			return nil, nil, err
		}
	}
	if err := c.Validate(); err != nil {
		return nil, nil, err
	}
	if c.Trace == "-" {
		return nil, nil, errors.New("the trace came from standard input")
	}
	in, err := Load(c, files)
	return c, in, err
}

// Recorded returns the measurements that Simulate returned for the run in journal r, except policy times. in has the
// run's inputs; without it, the result has no finish-time fairness and includes all jobs. A job that differs from in is
// an error. A truncated journal gives an Unfinished run.
func Recorded(r *journal.Reader, c *config.Config, in *Inputs) (*Run, error) {
	return RecordedStreaming(r, c, in, metrics.Stream{})
}

// RecordedStreaming is Recorded, but also passes each result to stream.
func RecordedStreaming(r *journal.Reader, c *config.Config, in *Inputs, stream metrics.Stream) (*Run, error) {
	rec, err := recorderOf(c, in, stream)
	if err != nil {
		return nil, err
	}
	p := player{from: r, rec: rec, specs: in.specs(), run: &Run{Policy: r.Header().Policy}}
	switch err := r.Show(&p); {
	case p.err != nil:
		return nil, p.err
	case errors.Is(err, journal.ErrTruncated):
		p.run.Unfinished = true
	case err != nil:
		return nil, err
	}
	p.run.Result = rec.Finish()
	s := &p.run.Result.Summary
	p.run.Unfinished = p.run.Unfinished || s.Active > 0 || s.Jobs < in.measured(c)
	return p.run, nil
}

func (in *Inputs) measured(c *config.Config) int {
	if in == nil {
		return 0
	}
	arrivals, n := in.Arrivals, 0
	if !c.Window.IsZero() {
		arrivals = arrivals[c.Window.First : c.Window.Last+1]
	}
	for i := range arrivals {
		if !skips(c, &arrivals[i].Spec) {
			n++
		}
	}
	return n
}

func recorderOf(c *config.Config, in *Inputs, stream metrics.Stream) (*metrics.Recorder, error) {
	if in == nil {
		o := metrics.DefaultOptions()
		o.Stream = stream
		return metrics.New(o)
	}
	w, err := in.window(c)
	if err != nil {
		return nil, err
	}
	return in.recorder(c, w, stream)
}

type player struct {
	from  *journal.Reader
	rec   *metrics.Recorder
	specs map[job.ID]*job.Spec // of the inputs; nil without
	run   *Run
	err   error // first error
}

func (p *player) Event(now time.Time, ev scheduler.Event) {
	if ev, ok := ev.(scheduler.Submitted); ok && p.err == nil {
		if err := p.known(ev.Spec); err != nil {
			p.err = fmt.Errorf("line %d: %w", p.from.Line(), err)
		}
	}
	p.rec.Event(now, ev)
}

func (p *player) Round(s *policy.Snapshot, plan *policy.Plan, actions []scheduler.Action) {
	if plan.Refused != "" {
		p.run.Refused = append(p.run.Refused, strings.SplitN(plan.Refused, "\n", 2)[0])
	}
	p.rec.Round(s, plan, actions)
}

func (p *player) known(spec *job.Spec) error {
	if p.specs == nil {
		return nil
	}
	own, ok := p.specs[spec.ID]
	if !ok || own.Class != spec.Class || own.GPUs != spec.GPUs || own.Target != spec.Target {
		return fmt.Errorf("job %s differs from the trace of the recorded run", spec.ID)
	}
	return nil
}
