package simulate

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy/kueue"
	"github.com/oxgang/oxgang/policy/multifactor"
	"github.com/oxgang/oxgang/simulate/config"
	"github.com/oxgang/oxgang/simulate/history"
	"github.com/oxgang/oxgang/simulate/trace"
	"github.com/oxgang/oxgang/simulate/trace/parse"
	"github.com/oxgang/oxgang/simulate/trace/slurm"
	"github.com/oxgang/oxgang/simulate/workload"
)

// ownSettings are those of the policy that stands for the cluster's own.
type ownSettings struct {
	settings []string        // of policies multifactor and kueue, as --set takes them
	slurm    *slurm.Settings // nil: not known
	kueue    bool            // the history has queues of Kueue
	alone    []string        // settings of the replay, and of no alternative
	called   string          // what the policy is called with these; empty: by its name
}

// readOwn reads Slurm's configuration, from a file or, if ask, from scontrol.
func readOwn(ctx context.Context, file string, ask bool) (own ownSettings, err error) {
	var r io.Reader
	switch {
	case file != "":
		f, err := cli.Open(ctx, file)
		if err != nil {
			return own, err
		}
		defer f.Close()
		r = f
	case ask:
		name, args, _ := strings.Cut(slurm.ConfigCommand, " ")
		text, err := slurmSays(ctx, name, strings.Fields(args)...)
		if err != nil {
			return own, err
		}
		file, r = slurm.ConfigCommand, bytes.NewReader(text)
	default:
		return own, nil
	}
	own.slurm, err = slurm.ReadSettings(r, file)
	if err != nil {
		return own, err
	}
	s := own.slurm
	set := func(key string, v any) { own.settings = append(own.settings, fmt.Sprintf("multifactor.%s=%v", key, v)) }
	set("age", s.Age)
	set("max-age", s.MaxAge)
	set("calculated", s.Calculated)
	set("interval", s.Interval)
	set("window", s.Horizon)
	set("tests", s.Tests)
	set("depth", s.Depth)
	return own, nil
}

// asPhilly sets what stands for Philly's scheduler: jobs in the order of their submission, where one that does not fit lets others pass,
// each on as many machines as it had. How long jobs will run is not used: the log does not say that anybody knew it.
func (o *ownSettings) asPhilly(h *history.History) {
	if h.Recorded.Format == trace.PhillyFormat && h.Baseline == "fifo" {
		o.alone, o.called = []string{"fifo.backfill=true"}, "fifo that lets pass who fits"
	}
}

// learn takes the queues of Kueue and their quotas from a history.
func (o *ownSettings) learn(h *trace.History) error {
	if len(h.Quotas) == 0 {
		return nil
	}
	queues := make([]kueue.ClusterQueue, len(h.Quotas))
	for i := range h.Quotas {
		q := &h.Quotas[i]
		queues[i] = kueue.ClusterQueue{Name: q.Queue, Cohort: q.Cohort, Strict: q.Strict}
		for _, f := range q.Flavors {
			queues[i].Flavors = append(queues[i].Flavors, kueue.Flavor{Name: f.Flavor, Types: f.Types, Nominal: f.Nominal, Borrow: limit(f.Borrow), Lend: limit(f.Lend)})
		}
	}
	text := kueue.Format(queues)
	if _, err := kueue.ParseQueues(text); err != nil { // a name that stands for something there
		return fmt.Errorf("queues of Kueue: %w", err)
	}
	o.kueue, o.settings = true, append(o.settings, "kueue.queues="+text)
	return nil
}

// limit returns a limit of GPUs as policy kueue has it: below 0 is none.
func limit(n *int) int {
	if n == nil {
		return -1
	}
	return *n
}

// prioritise gives arrivals the priorities that the history says, or none. Those of Slurm are for its own policy only: the accounting
// has what multifactor made of users, partitions and sizes, as it was when a job was submitted. Those of Kueue are users' own.
func prioritise(arrivals []workload.Arrival, jobs map[job.ID]*parse.Observed, known bool) {
	for i := range arrivals {
		s := &arrivals[i].Spec
		if s.Priority = 0; known && jobs[s.ID] != nil {
			s.Priority = jobs[s.ID].Arrival.Spec.Priority
		}
	}
}

// unknown says what is not known of the cluster's own policy.
func (o *ownSettings) unknown(h *history.History) []string {
	if h.Recorded.Format != slurm.Format || h.Baseline != "multifactor" {
		return nil
	}
	d := multifactor.DefaultOptions()
	if o.slurm == nil {
		return []string{fmt.Sprintf("Slurm's configuration is not known (--slurm-config): backfilling every %v over %v, and a priority of age alone beside the recorded one", d.Interval, d.Horizon)}
	}
	return o.slurm.Unlike
}

// batchDelay is how long after its last pass Slurm's main scheduler makes the next one at the earliest. Source: slurm.conf(5),
// batch_sched_delay.
const batchDelay = 3 * time.Second

// admissionDelay is how long after its last decision Kueue is taken to decide again at the earliest: a dump has whole seconds.
const admissionDelay = time.Second

// pace sets how often a policy decides. One that runs jobs as they were submitted decides as soon as something happens;
// one that resizes them does so every minute, and when a job comes to idle GPUs.
func pace(c *config.Config, sizes bool, own *ownSettings) {
	if c.IsSet("round") || c.IsSet("scheduler.on-event") || c.IsSet("scheduler.on-submit") {
		return
	}
	if c.Scheduler.OnSubmit = sizes; sizes {
		return
	}
	c.Scheduler.OnEvent = batchDelay
	if own.kueue {
		c.Scheduler.OnEvent = admissionDelay
	}
	c.Scheduler.Round = multifactor.DefaultOptions().Interval
	if s := own.slurm; s != nil && s.Interval > 0 {
		c.Scheduler.Round = s.Interval
	}
}
