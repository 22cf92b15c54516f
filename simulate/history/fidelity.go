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

// Judge compares a simulation with the observed jobs. Waits with an error below round (seconds) count as reproduced.
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

// WriteTrust writes the accuracy of the simulation and its assumptions.
func WriteTrust(w io.Writer, baseline string, t *metrics.Trust, assumed []string) error {
	lines := strings.NewReplacer("causes: ", "causes:\n  ", "; ", "\n  ")
	_, err := fmt.Fprintf(w, "Simulated under %s, which stands for the cluster's own scheduler: %s.\n%s\nAssumed:\n  %s\n\n",
		baseline, t.Errors(), lines.Replace(t.Verdict()), strings.Join(assumed, "\n  "))
	return err
}

// harmless are notes that do not affect the simulation.
var harmless = []string{parse.DropNoGPUs, "objects of other kinds, not looked at", "nodes whose GPU type no label names, called gpu"}

// Causes lists possible causes of differences between a simulation with this configuration and the history.
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

// NotExactly returns the cause that a policy only approximates the cluster's own.
func NotExactly(policy string) string { return "the cluster's scheduler is not exactly " + policy }

// unsaid lists what Slurm could have logged about the order of jobs, but did not.
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

// never lists what the history of a format never contains.
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
