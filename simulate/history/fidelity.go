package history

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler/metrics"
	"github.com/oxgang/oxgang/simulate/config"
	"github.com/oxgang/oxgang/simulate/trace"
	"github.com/oxgang/oxgang/simulate/trace/parse"
)

// Judge compares one simulation of observed jobs with what was observed. Waits that are off by less than round, in seconds,
// count as reproduced.
func Judge(jobs map[job.ID]*parse.Observed, run *metrics.Result, nodes *cluster.Cluster, round float64, causes []string) *metrics.Trust {
	c := Compare(jobs, "", []string{""}, run)
	ended := 0
	for i := range run.Jobs {
		if o := jobs[run.Jobs[i].ID]; o != nil && !o.Started.IsZero() && !o.Ended.IsZero() {
			ended++
		}
	}
	n := len(c.Pairs)
	return metrics.Judge(c.Figures(nodes.GPUs(), Observed), c.Figures(nodes.GPUs(), Run(0)), n, ended-n, round, causes)
}

// WriteTrust writes how well the history is simulated, and what is assumed, before anything is said of a simulation.
func WriteTrust(w io.Writer, baseline string, t *metrics.Trust, assumed []string) error {
	lines := strings.NewReplacer("causes: ", "causes:\n  ", "; ", "\n  ")
	_, err := fmt.Fprintf(w, "Simulated under %s, which stands for the cluster's own scheduler: %s.\n%s\nAssumed:\n  %s\n\n",
		baseline, t.Errors(), lines.Replace(t.Verdict()), strings.Join(assumed, "\n  "))
	return err
}

// harmless are remarks about a dump that change nothing of what is simulated.
var harmless = []string{parse.DropNoGPUs, "objects of other kinds, not looked at", "nodes whose GPU type no label names, called gpu"}

// Causes says what may make a simulation with this configuration differ from what was observed.
func (h *History) Causes(c *config.Config) []string {
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
	if was := h.Recorded.Cluster; was != "" && c.IsSet("cluster") && c.Cluster != was {
		all = append(all, "the cluster that is simulated is not the one that was observed")
	}
	all = append(all, h.unsaid()...)
	return append(append(all, NotExactly(h.Baseline)), never[h.Recorded.Format]...)
}

// NotExactly returns the cause that a policy only stands for the cluster's own.
func NotExactly(policy string) string { return "the cluster's scheduler is not exactly " + policy }

// unsaid says what a log of Slurm could have said of the order of jobs, and does not.
func (h *History) unsaid() []string {
	if h.Recorded.Format != "slurm" {
		return nil
	}
	var all []string
	if !slices.ContainsFunc(h.Recorded.Jobs, func(o parse.Observed) bool { return o.Arrival.Spec.Target > 0 }) {
		all = append(all, "the log says no time limits: backfill knows how long jobs really took")
	}
	if !slices.ContainsFunc(h.Recorded.Jobs, func(o parse.Observed) bool { return o.Arrival.Spec.Priority > 0 }) {
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
