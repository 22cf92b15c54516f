package simulate

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/config"
	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/policy/multifactor"
	"github.com/oxgang/oxgang/trace/parse"
	"github.com/oxgang/oxgang/trace/slurm"
	"github.com/oxgang/oxgang/workload"
)

// ownSettings are those of the policy that stands for the cluster's own.
type ownSettings struct {
	settings []string        // of policy multifactor, as --set takes them
	slurm    *slurm.Settings // nil: not known
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
	set("window", s.Ahead)
	set("tests", s.Tests)
	set("depth", s.Depth)
	return own, nil
}

// prioritise gives arrivals the priorities by which the cluster's own policy serves them, or others: none. Slurm's accounting
// has a job's priority as it was when submitted: age is not in it.
func prioritise(arrivals []workload.Arrival, jobs map[job.ID]*parse.Observed, own bool) {
	for i := range arrivals {
		s := &arrivals[i].Spec
		if s.Priority = 0; own && jobs[s.ID] != nil {
			s.Priority = jobs[s.ID].Arrival.Spec.Priority
		}
	}
}

// unknown says what is not known of the cluster's own policy.
func (o *ownSettings) unknown(h *history) []string {
	if h.recorded.Format != slurm.Format || h.baseline != "multifactor" {
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

// pace sets how often a policy decides. One that runs jobs as they were submitted decides as soon as something happens;
// one that resizes them does so every minute, and when a job comes to idle GPUs.
func pace(c *config.Config, sizes bool, s *slurm.Settings) {
	if c.IsSet("round") || c.IsSet("scheduler.on-event") || c.IsSet("scheduler.on-submit") {
		return
	}
	if c.Scheduler.OnSubmit = sizes; sizes {
		return
	}
	c.Scheduler.OnEvent = batchDelay
	c.Scheduler.Round = multifactor.DefaultOptions().Interval
	if s != nil && s.Interval > 0 {
		c.Scheduler.Round = s.Interval
	}
}
