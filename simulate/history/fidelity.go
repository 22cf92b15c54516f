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
	"github.com/oxgang/oxgang/simulate/run"
	"github.com/oxgang/oxgang/simulate/trace"
	"github.com/oxgang/oxgang/simulate/trace/parse"
)

// Judge compares a simulation with the recorded jobs. A wait counts as reproduced if it differs by less than round
// seconds. Jobs that the cluster cannot run are not reproduced, and appear in the causes.
func (h *History) Judge(result *metrics.Result, in *run.Inputs, round float64, causes []string) *metrics.Trust {
	left := h.LeftOut(in.Arrivals, in.Cluster)
	return judge(h.Jobs(), result, in.Cluster, total(left), round, append(Named(left), causes...))
}

func judge(jobs map[job.ID]*parse.Observed, run *metrics.Result, nodes *cluster.Cluster, missing int, round float64, causes []string) *metrics.Trust {
	c := Compare(jobs, "", []string{""}, run)
	ended := 0
	for i := range run.Jobs {
		if o := jobs[run.Jobs[i].ID]; o != nil && !o.Started.IsZero() && !o.Ended.IsZero() {
			ended++
		}
	}
	n := len(c.Pairs)
	return metrics.Judge(c.Figures(nodes.GPUs(), Observed), c.Figures(nodes.GPUs(), Run(0)), n, ended-n+missing, round, causes)
}

// WriteTrust prints the accuracy t of a simulation under policy baseline, and what the simulation assumed.
func WriteTrust(w io.Writer, baseline string, t *metrics.Trust, assumed []string) error {
	lines := strings.NewReplacer("causes: ", "causes:\n  ", "; ", "\n  ")
	_, err := fmt.Fprintf(w, "Simulated under %s in place of the cluster's own scheduler: %s.\n%s\nAssumptions:\n  %s\n\n",
		baseline, t.Errors(), lines.Replace(t.Verdict()), strings.Join(assumed, "\n  "))
	return err
}

// harmless are notes that do not affect the simulation.
var harmless = []string{parse.DropNoGPUs, "nodes without a label for the GPU type, called gpu"}

// Causes lists why a simulation with configuration c may differ from the history.
func (h *History) Causes(c *config.Config) []string {
	all := h.tooSmall(c)
	for _, n := range h.notes.Notes {
		if !slices.Contains(harmless, n.Text) && !strings.HasPrefix(n.Text, parse.Ignored) {
			all = append(all, fmt.Sprintf("%s: %d", n.Text, n.Count))
		}
	}
	if h.notes.Bad > 0 {
		all = append(all, fmt.Sprintf("bad rows skipped: %d", h.notes.Bad))
	}
	if h.earlier > 0 {
		all = append(all, fmt.Sprintf("jobs submitted before the last %s, ignored although they may have been running: %d", h.since, h.earlier))
	}
	if h.short > 0 {
		all = append(all, fmt.Sprintf("jobs shorter than the cost of a start, simulated longer: %d", h.short))
	}
	if h.guessed {
		all = append(all, "the cluster is a guess: the GPUs in use at the same time")
	}
	if was := h.Recorded.Cluster; was != "" && c.IsSet("cluster") && c.Cluster != was {
		all = append(all, "the simulated cluster differs from the observed one")
	}
	all = append(all, h.missingOrder()...)
	return append(append(all, NotExactly(h.Baseline)), notRecorded[h.Recorded.Format]...)
}

func (h *History) tooSmall(c *config.Config) []string {
	nodes, err := c.BuildCluster()
	if err != nil {
		return nil
	}
	have, most := nodes.GPUs(), h.Recorded.MostInUse()
	if most <= have {
		return nil
	}
	return []string{fmt.Sprintf("the jobs of the log held up to %d GPUs at the same time, and the simulated cluster has %d", most, have)}
}

// NotExactly returns the clause that a policy only approximates the cluster's own scheduler.
func NotExactly(policy string) string { return "the cluster's scheduler is not exactly " + policy }

func (h *History) missingOrder() []string {
	if h.Recorded.Format != "slurm" {
		return nil
	}
	var all []string
	if !slices.ContainsFunc(h.Recorded.Jobs, func(o parse.Observed) bool { return o.Arrival.Spec.Target > 0 }) {
		all = append(all, "the log has no time limits: backfilling uses true running times")
	}
	if !slices.ContainsFunc(h.Recorded.Jobs, func(o parse.Observed) bool { return o.Arrival.Spec.Priority > 0 }) {
		all = append(all, "the log has no priorities: jobs are served in the order in which they could start")
	}
	return all
}

var notRecorded = map[string][]string{
	trace.HeliosFormat: {
		"the log has no time limits, priorities, node failures or nodes of virtual clusters: all GPUs are open to all jobs, and backfilling uses true running times",
	},
	"kubernetes": {"a dump has no deleted jobs and no removed nodes"},
	trace.PhillyFormat: {
		"the log has no quotas of virtual clusters: all GPUs are open to all jobs",
		"Philly's fair shares, preemption and waiting for nearby GPUs are not replayed",
		"the nodes are the machines in the log, which has no node failures",
	},
	"slurm": {"the accounting has no node failures, reservations, or priorities before a job's start"},
}
