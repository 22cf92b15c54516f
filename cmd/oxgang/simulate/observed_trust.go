package simulate

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler/metrics"
	"github.com/oxgang/oxgang/simulate/report"
	"github.com/oxgang/oxgang/simulate/trace"
	"github.com/oxgang/oxgang/simulate/trace/parse"
)

// judge says how well history is simulated under the policy that stands for the cluster's own, and
// marks all simulations of it if that is not well enough.
func (s *simulation) judge(runs []report.Run, tasks []*task) *metrics.Trust {
	if s.past.recorded == nil {
		return nil
	}
	var t *metrics.Trust
	was := s.past.recorded.Cluster
	causes := s.past.causes(was != "" && s.config.IsSet("cluster") && s.config.Cluster != was)
	if i := slices.IndexFunc(tasks, func(t *task) bool { return t.policy == s.past.baseline && t.run != nil }); i >= 0 {
		t = judge(s.past.jobs(), runs[i].Result, tasks[i].Inputs.Cluster, s.config.Scheduler.Round.Seconds(), causes)
	} else {
		t = metrics.Judge(metrics.Figures{}, metrics.Figures{}, 0, 0, 0, []string{s.past.baseline + " was not simulated"})
	}
	for i := range runs {
		if runs[i].Trust = t; !t.Trusted && runs[i].Result != nil {
			runs[i].Name += metrics.Stamp
		}
	}
	return t
}

// judge compares one simulation of observed jobs with what was observed.
func judge(jobs map[job.ID]*parse.Observed, run *metrics.Result, nodes *cluster.Cluster, round float64, causes []string) *metrics.Trust {
	c := compare(jobs, "", []string{""}, []*metrics.Result{run})
	gpus := float64(nodes.GPUs())
	observed := c.figures(gpus, func(p *pair) (wait, jct time.Duration, h held) { return p.wait, p.jct, p.observed })
	simulated := c.figures(gpus, func(p *pair) (wait, jct time.Duration, h held) { return p.waits[0], p.jcts[0], p.held[0] })
	missing := 0
	for i := range run.Jobs {
		if o := jobs[run.Jobs[i].ID]; o != nil && !o.Started.IsZero() && !o.Ended.IsZero() {
			missing++
		}
	}
	return metrics.Judge(observed, simulated, len(c.pairs), missing-len(c.pairs), round, causes)
}

// figures returns those of all pairs, on so many GPUs.
func (c *comparison) figures(gpus float64, of func(*pair) (wait, jct time.Duration, h held)) metrics.Figures {
	waits := c.each(func(p *pair) time.Duration { wait, _, _ := of(p); return wait })
	slices.Sort(waits)
	return metrics.Figures{
		JCT:         mean(c.each(func(p *pair) time.Duration { _, jct, _ := of(p); return jct })).Seconds(),
		Wait:        mean(waits).Seconds(),
		Median:      metrics.Quantile(waits, 0.5).Seconds(),
		P90:         metrics.Quantile(waits, 0.9).Seconds(),
		Utilisation: c.utilisation(gpus, func(p *pair) held { _, _, h := of(p); return h }),
	}
}

// utilisation returns the GPU time of the pairs over that of so many GPUs, from the first submission to
// the last end.
func (c *comparison) utilisation(gpus float64, of func(*pair) held) float64 {
	if len(c.pairs) == 0 {
		return 0
	}
	sum, first := 0.0, of(&c.pairs[0])
	last := first
	for i := range c.pairs {
		h := of(&c.pairs[i])
		sum += h.gpus
		first.came, last.ended = min(first.came, h.came), max(last.ended, h.ended)
	}
	return sum / max(1, gpus*(last.ended-first.came))
}

// harmless are remarks about a dump that change nothing of what is simulated.
var harmless = []string{parse.DropNoGPUs, "objects of other kinds, not looked at", "nodes whose GPU type no label names, called gpu"}

// causes says what may make the simulation differ from what was observed.
func (h *history) causes(elsewhere bool) []string {
	var all []string
	for _, n := range h.notes.Notes {
		if !slices.Contains(harmless, n.Text) {
			all = append(all, fmt.Sprintf("%s: %d", n.Text, n.Count))
		}
	}
	if h.notes.Bad > 0 {
		all = append(all, fmt.Sprintf("bad rows skipped: %d", h.notes.Bad))
	}
	if h.earlier > 0 {
		all = append(all, fmt.Sprintf("jobs that came before the last %s, left out though they may have run: %d", h.since, h.earlier))
	}
	if h.short > 0 {
		all = append(all, fmt.Sprintf("jobs that ran for less than a start costs, simulated longer: %d", h.short))
	}
	if h.guessed {
		all = append(all, "the cluster is a guess: what was held at once")
	}
	if elsewhere {
		all = append(all, "the cluster that is simulated is not the one that was observed")
	}
	all = append(all, h.unsaid()...)
	return append(append(all, notExactly(h.baseline)), never[h.recorded.Format]...)
}

// notExactly says that a policy only stands for the cluster's own.
func notExactly(policy string) string { return "the cluster's scheduler is not exactly " + policy }

// unsaid says what a log of Slurm could have said of the order of jobs, and does not.
func (h *history) unsaid() []string {
	if h.recorded.Format != "slurm" {
		return nil
	}
	var all []string
	if !slices.ContainsFunc(h.recorded.Jobs, func(o parse.Observed) bool { return o.Arrival.Spec.Target > 0 }) {
		all = append(all, "the log says no time limits: backfill knows how long jobs really took")
	}
	if !slices.ContainsFunc(h.recorded.Jobs, func(o parse.Observed) bool { return o.Arrival.Spec.Priority > 0 }) {
		all = append(all, "the log says no priorities: jobs are served in the order in which they could start")
	}
	return all
}

// never is what a history of a format does not say, so that it is not replayed.
var never = map[string][]string{
	trace.HeliosFormat: {
		"time limits, priorities, nodes that were down, and which nodes belong to which virtual cluster are not in the log: all GPUs are open to all jobs, and backfill knows how long jobs really took",
	},
	"kubernetes": {"jobs that were deleted and nodes that are gone are not in a dump"},
	trace.PhillyFormat: {
		"quotas of virtual clusters are not in the log: all GPUs are open to all jobs",
		"what Philly's scheduler did beyond letting pass who fits is not replayed: fair shares, preemption, and waiting for GPUs near one another",
		"the nodes are the machines that jobs of the log ran on; when they were down is not in it",
	},
	"slurm": {"nodes that were down or reserved, and priorities before a job started, are not in the accounting of jobs"},
}

// trust writes how well history is simulated, and what is assumed, before anything is said of a simulation.
func trust(w io.Writer, baseline string, t *metrics.Trust, assumed []string) error {
	lines := strings.NewReplacer("causes: ", "causes:\n  ", "; ", "\n  ")
	_, err := fmt.Fprintf(w, "Simulated under %s, which stands for the cluster's own scheduler: %s.\n%s\nAssumed:\n  %s\n\n",
		baseline, t.Errors(), lines.Replace(t.Verdict()), strings.Join(assumed, "\n  "))
	return err
}
