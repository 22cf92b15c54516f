package history

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/simulate/config"
	"github.com/oxgang/oxgang/simulate/run"
	"github.com/oxgang/oxgang/simulate/trace"
	"github.com/oxgang/oxgang/simulate/trace/parse"
	"github.com/oxgang/oxgang/simulate/trace/slurm"
	"github.com/oxgang/oxgang/simulate/workload"
)

// A History is the record of a cluster's jobs, ready for simulation.
type History struct {
	Baseline string         // policy in place of the cluster's own scheduler
	Recorded *trace.History // nil: the input has no start times

	trace   []byte        // to simulate, as JSON Lines
	notes   parse.Summary // dropped or invented rows
	guessed bool          // the cluster is the largest number of GPUs in use at once
	since   string        // see Options
	earlier int           // number of jobs before since, which are dropped
	name    string        // of the trace in the configuration
	first   time.Time     // jobs submitted earlier are not simulated; zero: all are
	short   int           // number of jobs shorter than a start
	workers bool          // see Options
}

// Options configure how a history is read.
type Options struct {
	Format, Name string
	// Since is the length of the simulated period before the last recorded time, as "30d" or "12h". Empty: all.
	Since    string
	Baseline string         // policy in place of the cluster's own scheduler; empty: from the history
	Mapping  *parse.Mapping // of the input's columns; nil: the input has a known format
	// Workers: each node of a job had one worker, and simulations use the same number of nodes.
	Workers bool
}

// DefaultBaseline is the policy most similar to the schedulers of most sites.
const DefaultBaseline = "easy"

// baseline returns the policy nearest to the cluster's own: Slurm's (also for Helios), Kueue's with quotas,
// fifo for Philly (smaller jobs pass), or DefaultBaseline.
func baseline(h *trace.History) string {
	switch {
	case h.Format == slurm.Format || h.Format == trace.HeliosFormat:
		return "multifactor"
	case len(h.Quotas) > 0:
		return "kueue"
	case h.Format == trace.PhillyFormat:
		return "fifo"
	}
	return DefaultBaseline
}

// Read reads a history from in. It prints to notes which rows were dropped and which values were assumed.
func Read(in io.Reader, c *config.Config, o Options, notes io.Writer) (*History, error) {
	onBad, err := parse.BadRowOf(c.OnBadRow)
	if err != nil {
		return nil, err
	}
	zone, err := config.Location(c.Zone)
	if err != nil {
		return nil, err
	}
	h := &History{Baseline: o.Baseline, since: o.Since, workers: o.Workers}
	h.Recorded, err = trace.ReadHistory(in, o.Format, parse.Options{File: o.Name, OnBadRow: onBad, Zone: zone, Mapping: o.Mapping, Summary: &h.notes})
	switch {
	case h.Recorded == nil || err != nil:
		return h, err
	case len(h.Recorded.Jobs) > 0 && !h.Recorded.Observed():
		h.Recorded = nil
		_, err = fmt.Fprintf(notes, "%s has no start times of jobs: nothing to compare with\n", o.Name)
		return h, err
	}
	h.Baseline = cmp.Or(h.Baseline, baseline(h.Recorded))
	_, err = fmt.Fprint(notes, &h.notes)
	return h, err
}

// ErrNoNodes reports a history without nodes that have GPUs.
var ErrNoNodes = errors.New("has no nodes with GPUs")

// Prepare makes the history the trace of configuration c, and sets the cluster if c has none. It adds the baseline to
// the policies, because the baseline shows how accurate simulations are.
func (h *History) Prepare(c *config.Config, name string, notes io.Writer) error {
	if err := h.configure(c, name, notes); err != nil {
		return err
	}
	since, err := ParseSince(h.since)
	if err != nil {
		return err
	}
	return h.write(since, startCost(c), notes)
}

func startCost(c *config.Config) time.Duration {
	switch {
	case c.Sim.FreeStart:
		return 0
	case c.Sim.Restart != nil:
		return *c.Sim.Restart
	}
	return workload.DefaultRestartDelay
}

func (h *History) configure(c *config.Config, name string, notes io.Writer) error {
	h.name = "jobs of " + name
	c.Trace, c.Format, c.Mapping = h.name, "jsonl", ""
	if !c.IsSet("on-bad-row") {
		c.OnBadRow = parse.Skip.String() // nodes of jobs may no longer exist
	}
	others := slices.DeleteFunc(slices.Clone(c.Policies), func(p string) bool { return p == h.Baseline })
	c.Policies = append([]string{h.Baseline}, others...)
	if c.IsSet("cluster") {
		return nil
	}
	nodes := h.Recorded.Cluster
	if nodes == "" && len(h.Recorded.Jobs) > 0 {
		nodes, h.guessed = h.Recorded.LargestUse(), true
		fmt.Fprintf(notes, "  cluster %s: a guess from the GPUs in use at the same time; set the real one with --cluster or --slurm-nodes\n", nodes)
	}
	if nodes == "" {
		return fmt.Errorf("%s %w", name, ErrNoNodes)
	}
	return c.Set("cluster", nodes, name)
}

// write writes the jobs since a time, the first at time zero. Running times include the first start, which
// simulations add, so write subtracts it, but leaves at least a second.
func (h *History) write(since, start time.Duration, notes io.Writer) error {
	var arrivals []workload.Arrival
	if since > 0 {
		h.first = h.Recorded.Taken.Add(-since)
	}
	for i := range h.Recorded.Jobs {
		if j := &h.Recorded.Jobs[i]; !j.Submitted.Before(h.first) {
			arrivals = append(arrivals, h.arrival(j, start))
		}
	}
	h.earlier = len(h.Recorded.Jobs) - len(arrivals)
	switch n := h.earlier; {
	case len(arrivals) == 0 && n > 0:
		return fmt.Errorf("none of %d jobs was submitted in the last %s", n, h.since)
	case len(arrivals) == 0:
		return errors.New("no job has run on GPUs: there is nothing to simulate")
	case n > 0:
		fmt.Fprintf(notes, "  jobs submitted before the last %s, ignored: %d\n", h.since, n)
	}
	if h.short > 0 {
		fmt.Fprintf(notes, "  jobs shorter than the cost of a start, simulated longer: %d\n", h.short)
	}
	if start > 0 {
		fmt.Fprintf(notes, "  a start takes %v of the observed running time\n", start)
	}
	begin := slices.MinFunc(arrivals, func(a, b workload.Arrival) int { return cmp.Compare(a.At, b.At) }).At
	for i := range arrivals {
		arrivals[i].At -= begin
	}
	return h.encode(arrivals)
}

func (h *History) arrival(j *parse.Observed, start time.Duration) workload.Arrival {
	a := j.Arrival
	if a.Duration < start {
		h.short++
	}
	a.Duration = withoutStart(a.Duration, start)
	if h.workers && j.Nodes > 1 && a.Spec.GPUs%j.Nodes == 0 {
		a.Spec.WorkerGPUs = a.Spec.GPUs / j.Nodes
	}
	a.Spec.Target = withoutStart(seconds(a.Spec.Target), start).Seconds()
	return a
}

func (h *History) encode(arrivals []workload.Arrival) error {
	format, err := trace.Find("jsonl")
	if err != nil {
		return err
	}
	var b bytes.Buffer
	err = format.Write(&b, func(yield func(workload.Arrival, error) bool) {
		for _, a := range arrivals {
			if !yield(a, nil) {
				return
			}
		}
	})
	h.trace = b.Bytes()
	return err
}

func withoutStart(d, start time.Duration) time.Duration {
	return max(min(d, time.Second), d-start)
}

// Files returns the files of a run: the history as its trace, and all others from rest.
func (h *History) Files(rest run.Files) run.Files {
	files := rest
	files.Open = func(name string) (io.ReadCloser, error) {
		if name == h.name {
			return io.NopCloser(bytes.NewReader(h.trace)), nil
		}
		return rest.Open(name)
	}
	return files
}

// Jobs returns the jobs of the history by name.
func (h *History) Jobs() map[job.ID]*parse.Observed {
	all := make(map[job.ID]*parse.Observed, len(h.Recorded.Jobs))
	for i := range h.Recorded.Jobs {
		all[h.Recorded.Jobs[i].Arrival.Spec.ID] = &h.Recorded.Jobs[i]
	}
	return all
}

// ParseSince parses a duration such as "30d" or "12h". It returns 0 for "".
func ParseSince(text string) (time.Duration, error) {
	const most = 100 * 365 // days
	if text == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(text)
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, bad := strconv.ParseFloat(days, 64)
		if err = bad; bad == nil && !(n <= most) { // rejects NaN, too
			err = errors.New("too long")
		}
		d = time.Duration(min(n, most) * 24 * float64(time.Hour))
	}
	if err != nil || d <= 0 || d > most*24*time.Hour {
		return 0, fmt.Errorf("--since %q, want a time like 30d or 12h, more than 0", text)
	}
	return d, nil
}
