package simulate

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/cmd/oxgang/kube"
	"github.com/oxgang/oxgang/lab/experiments"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy/registry"
	"github.com/oxgang/oxgang/simulate/config"
	"github.com/oxgang/oxgang/simulate/trace"
	"github.com/oxgang/oxgang/simulate/trace/parse"
	"github.com/oxgang/oxgang/simulate/trace/slurm"
	"github.com/oxgang/oxgang/simulate/workload"
)

// A history is what a cluster did with its jobs. Simulations show how the jobs would have gone
// under other policies.
type history struct {
	from           bool   // ask the user's kubectl, not a file
	slurm          bool   // ask the user's sacct and scontrol, not a file
	context, kconf string // of kubectl
	since          string // how far back, from when the dump was made; empty: all of it
	baseline       string // the policy that stands for the cluster's own scheduler

	recorded *trace.History // nil: no history is simulated
	guessed  bool           // the cluster is what was held at once
	text     []byte         // the trace that is simulated, as JSON Lines
	notes    *parse.Summary // of what was dropped or invented when the history was read
	earlier  int            // jobs that came before since, which are left out
	short    int            // jobs that ran for less than a start costs
	must     bool           // there is nothing without a history: standard input is one
	workers  bool           // each node of a job was a worker: others get as many nodes
}

// ownPolicy stands for a cluster's own scheduler unless --baseline says otherwise: it is nearest to
// what sites run.
const ownPolicy = "easy"

// own returns the policy that stands for a cluster's own scheduler: Slurm's, which Helios runs too; Kueue's where its queues have
// quotas; for Philly one that lets pass who fits; or ownPolicy.
func own(h *trace.History) string {
	switch {
	case h.Format == slurm.Format || h.Format == trace.HeliosFormat:
		return "multifactor"
	case len(h.Quotas) > 0:
		return "kueue"
	case h.Format == trace.PhillyFormat:
		return "fifo"
	}
	return ownPolicy
}

func (h *history) add(f *pflag.FlagSet) {
	f.BoolVar(&h.from, "from-cluster", false, "simulate what a Kubernetes cluster ran, as your kubectl shows it, and compare")
	f.BoolVar(&h.slurm, "from-slurm", false, "simulate what a Slurm cluster ran, as your sacct shows it, of 30 days or --since, and compare")
	f.StringVar(&h.context, "context", "", "context of kubectl to use, with --from-cluster")
	f.StringVar(&h.kconf, "kubeconfig", "", "configuration of kubectl to use, with --from-cluster")
	f.StringVar(&h.since, "since", "", "of recorded history, only jobs submitted at most so long before it ends: 30d, 12h")
	f.StringVar(&h.baseline, "baseline", ownPolicy, "the policy with which the best is compared; of recorded history, it stands for the cluster's own scheduler")
}

// load reads the history, if there is one, and sets what it contains of the configuration: the trace,
// and the cluster unless another was named. The baseline is always simulated, because it shows how far
// simulations can be trusted.
func (h *history) load(ctx context.Context, c *config.Config, told io.Writer) error {
	switch {
	case h.from && c.Trace != "":
		return cli.Misused("--from-cluster and --trace %s, want one of them", c.Trace)
	case h.slurm && (c.Trace != "" || h.from):
		return cli.Misused("--from-slurm and --from-cluster or a trace, want one of them")
	case !h.from && (h.context != "" || h.kconf != ""):
		return cli.Misused("--context and --kubeconfig without --from-cluster")
	}
	since, err := parseSince(h.since)
	if err != nil {
		return cli.Usage(err)
	}
	if _, err := registry.Find(cmp.Or(h.baseline, ownPolicy)); err != nil {
		return cli.Usage(fmt.Errorf("--baseline: %w", err))
	}
	name, err := h.read(ctx, c, since, told)
	switch {
	case err != nil:
		return err
	case h.recorded == nil && h.since != "":
		return cli.Misused("--since %s without --from-cluster, --from-slurm, or a trace that says when jobs started", h.since)
	case h.recorded == nil:
		return nil
	}
	if h.baseline == "" {
		h.baseline = own(h.recorded)
	}
	if h.slurm && !c.IsSet("cluster") {
		if h.recorded.Cluster, err = askNodes(ctx, told); err != nil {
			return err
		}
	}
	if err := h.configure(c, name, told); err != nil {
		return err
	}
	return h.write(since, startCost(c), told)
}

// startCost returns what a simulation adds to the running time at every start.
func startCost(c *config.Config) time.Duration {
	switch {
	case c.Sim.FreeStart:
		return 0
	case c.Sim.Restart != nil:
		return *c.Sim.Restart
	}
	return workload.DefaultRestartDelay
}

// read reads the history, if the configuration names one, and says what was dropped of it or
// invented. It returns its name.
func (h *history) read(ctx context.Context, c *config.Config, since time.Duration, told io.Writer) (name string, err error) {
	onBad, err := parse.BadRowOf(c.OnBadRow)
	if err != nil {
		return "", err
	}
	zone, err := config.Location(c.Zone)
	if err != nil {
		return "", err
	}
	format, name := trace.Named(c.Trace, c.Format)
	switch {
	case h.from:
		format, name = "kubernetes", "cluster"
	case h.slurm:
		format, name = slurm.Format, "sacct"
	}
	in, err := h.open(ctx, format, name, since, told)
	if in == nil || err != nil {
		return "", err
	}
	defer in.Close()
	h.notes = new(parse.Summary)
	h.recorded, err = trace.ReadHistory(in, format, parse.Options{File: name, OnBadRow: onBad, Zone: zone, Summary: h.notes})
	switch {
	case h.recorded == nil || err != nil:
		return "", err
	case len(h.recorded.Jobs) > 0 && !h.recorded.Observed():
		h.recorded = nil
		_, err = fmt.Fprintf(told, "%s does not say when jobs started: nothing to compare with\n", name)
		return "", err
	}
	_, err = fmt.Fprint(told, h.notes)
	return name, err
}

// open opens what may be a history; nil: there is none. Standard input is read once, so only a
// format makes it a history.
func (h *history) open(ctx context.Context, format, name string, since time.Duration, told io.Writer) (io.ReadCloser, error) {
	switch {
	case h.from:
		text, err := h.ask(ctx, told)
		return io.NopCloser(bytes.NewReader(text)), err
	case h.slurm:
		return h.fromSlurm(ctx, since)
	case name == "" || name == "-" && !trace.Recorded(format) && !h.must:
		return nil, nil
	}
	return cli.Open(ctx, name)
}

// write writes the trace that is simulated: the jobs since a time, of which the first arrives at
// time zero. The observed running time includes the first start, and simulations add that: so write
// subtracts it, and leaves at least a second.
func (h *history) write(since, start time.Duration, told io.Writer) error {
	var kept []workload.Arrival
	first := h.recorded.Taken.Add(-since)
	for i := range h.recorded.Jobs {
		j := &h.recorded.Jobs[i]
		if since > 0 && j.Submitted.Before(first) {
			continue
		}
		a := j.Arrival
		if a.Duration < start {
			h.short++
		}
		a.Duration = withoutStart(a.Duration, start)
		if h.workers && j.Nodes > 1 && a.Spec.GPUs%j.Nodes == 0 {
			a.Spec.WorkerGPUs = a.Spec.GPUs / j.Nodes
		}
		a.Spec.Target = withoutStart(seconds(a.Spec.Target), start).Seconds()
		kept = append(kept, a)
	}
	h.earlier = len(h.recorded.Jobs) - len(kept)
	switch n := h.earlier; {
	case len(kept) == 0 && n > 0:
		return fmt.Errorf("no job of %d came in the last %s", n, h.since)
	case len(kept) == 0:
		return errors.New("no job has run on GPUs: there is nothing to simulate")
	case n > 0:
		fmt.Fprintf(told, "  jobs that came before the last %s, left out: %d\n", h.since, n)
	}
	if h.short > 0 {
		fmt.Fprintf(told, "  jobs that ran for less than a start costs, simulated longer: %d\n", h.short)
	}
	if start > 0 {
		fmt.Fprintf(told, "  a start costs %v of the running time that was observed\n", start)
	}
	begin := slices.MinFunc(kept, func(a, b workload.Arrival) int { return cmp.Compare(a.At, b.At) }).At
	for i := range kept {
		kept[i].At -= begin
	}
	format, err := trace.Find("jsonl")
	if err != nil {
		return err
	}
	var b bytes.Buffer
	err = format.Write(&b, func(yield func(workload.Arrival, error) bool) {
		for _, a := range kept {
			if !yield(a, nil) {
				return
			}
		}
	})
	h.text = b.Bytes()
	return err
}

// withoutStart returns a running time less what a start costs, at least a second.
func withoutStart(d, start time.Duration) time.Duration {
	return max(min(d, time.Second), d-start)
}

// ask asks the cluster.
func (h *history) ask(ctx context.Context, told io.Writer) ([]byte, error) {
	k := kube.Connection{Context: h.context, Config: h.kconf}
	text, lacks, err := k.Kubectl().Dump(ctx)
	if err != nil {
		return nil, kube.Hinted(err)
	}
	for _, l := range lacks {
		fmt.Fprintf(told, "left out: %s\n", l)
	}
	return text, nil
}

// configure fills in what the history says.
func (h *history) configure(c *config.Config, name string, told io.Writer) error {
	c.Trace, c.Format = "jobs of "+name, "jsonl"
	if !c.IsSet("on-bad-row") {
		c.OnBadRow = parse.Skip.String() // nodes that jobs ran on may be gone
	}
	others := slices.DeleteFunc(slices.Clone(c.Policies), func(p string) bool { return p == h.baseline })
	c.Policies = append([]string{h.baseline}, others...)
	if c.IsSet("cluster") {
		return nil
	}
	nodes := h.recorded.Cluster
	if nodes == "" && len(h.recorded.Jobs) > 0 {
		nodes, h.guessed = h.recorded.LargestUse(), true
		fmt.Fprintf(told, "  cluster %s: a guess, what was held at once; --cluster or --slurm-nodes says what was there\n", nodes)
	}
	if nodes == "" {
		return cli.Hinted(fmt.Errorf("%s has no nodes with GPUs", name), "--cluster says what to simulate")
	}
	return c.Set("cluster", nodes, name)
}

// files are those of the machine, but for the trace of a history, which is in memory.
func (h *history) files(ctx context.Context, name string) experiments.Files {
	files := cli.FilesUntil(ctx)
	if h.recorded != nil {
		others := files.Open
		files.Open = func(n string) (io.ReadCloser, error) {
			if n == name {
				return io.NopCloser(bytes.NewReader(h.text)), nil
			}
			return others(n)
		}
	}
	return files
}

// jobs returns the jobs of the history by name.
func (h *history) jobs() map[job.ID]*parse.Observed {
	all := make(map[job.ID]*parse.Observed, len(h.recorded.Jobs))
	for i := range h.recorded.Jobs {
		all[h.recorded.Jobs[i].Arrival.Spec.ID] = &h.recorded.Jobs[i]
	}
	return all
}

// parseSince parses "30d" or "12h"; 0 for "".
func parseSince(text string) (time.Duration, error) {
	const most = 100 * 365 // days
	if text == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(text)
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, bad := strconv.ParseFloat(days, 64)
		if err = bad; bad == nil && !(n <= most) { // not a number fails too
			err = errors.New("too long")
		}
		d = time.Duration(min(n, most) * 24 * float64(time.Hour))
	}
	if err != nil || d <= 0 || d > most*24*time.Hour {
		return 0, fmt.Errorf("--since %q, want a time like 30d or 12h, more than 0", text)
	}
	return d, nil
}

// mean returns the mean of values, 0 of none.
func mean(values []time.Duration) time.Duration {
	var sum float64
	for _, v := range values {
		sum += float64(v)
	}
	return time.Duration(sum / float64(max(1, len(values))))
}
