package simulate

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/metrics"
	"github.com/oxgang/oxgang/report"
	"github.com/oxgang/oxgang/trace"
	"github.com/oxgang/oxgang/trace/parse"
)

// own is the policy that stands for a cluster's own scheduler.
const own = "fifo"

// judge says how well history is simulated under the policy that stands for the cluster's own, and
// marks all simulations of it if that is not well enough.
func (s *simulation) judge(runs []report.Run, tasks []*task) *metrics.Trust {
	if s.past.dump == nil {
		return nil
	}
	var t *metrics.Trust
	causes := s.past.causes(s.config.IsSet("cluster") && s.config.Cluster != s.past.dump.Cluster)
	if i := slices.IndexFunc(tasks, func(t *task) bool { return t.policy == own && t.run != nil }); i >= 0 {
		t = judge(s.past.jobs(), runs[i].Result, tasks[i].Inputs.Cluster, s.config.Scheduler.Round.Seconds(), causes)
	} else {
		t = metrics.Judge(metrics.Figures{}, metrics.Figures{}, 0, 0, 0, []string{own + " was not simulated"})
	}
	for i := range runs {
		if runs[i].Trust = t; !t.Trusted && runs[i].Result != nil {
			runs[i].Name += metrics.Stamp
		}
	}
	return t
}

// judge compares one simulation of observed jobs with what was observed.
func judge(jobs map[job.ID]*trace.Observed, run *metrics.Result, nodes *cluster.Cluster, round float64, causes []string) *metrics.Trust {
	c := compare(jobs, []string{own}, []*metrics.Result{run})
	gpus := float64(nodes.GPUs())
	observed := metrics.Figures{
		JCT:         mean(c.each(func(p *pair) time.Duration { return p.jct })).Seconds(),
		Wait:        mean(c.each(func(p *pair) time.Duration { return p.wait })).Seconds(),
		Utilisation: c.utilisation(gpus, func(p *pair) held { return p.observed }),
	}
	simulated := metrics.Figures{
		JCT:         mean(c.each(func(p *pair) time.Duration { return p.jcts[0] })).Seconds(),
		Wait:        mean(c.each(func(p *pair) time.Duration { return p.waits[0] })).Seconds(),
		Utilisation: c.utilisation(gpus, func(p *pair) held { return p.held[0] }),
	}
	missing := 0
	for i := range run.Jobs {
		if o := jobs[run.Jobs[i].ID]; o != nil && !o.Ended.IsZero() {
			missing++
		}
	}
	return metrics.Judge(observed, simulated, len(c.pairs), missing-len(c.pairs), round, causes)
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
	if elsewhere {
		all = append(all, "the cluster that is simulated is not the one that was observed")
	}
	return append(all, "the cluster's scheduler is not "+own, "jobs that were deleted and nodes that are gone are not in a dump")
}

// trust writes how well history is simulated, before anything is said of a simulation.
func trust(w io.Writer, t *metrics.Trust) error {
	lines := strings.NewReplacer("causes: ", "causes:\n  ", "; ", "\n  ")
	_, err := fmt.Fprintf(w, "Simulated under %s, which stands for the cluster's own scheduler: %s.\n%s\n\n", own, t.Errors(), lines.Replace(t.Verdict()))
	return err
}
