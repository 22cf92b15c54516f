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
	"github.com/oxgang/oxgang/config"
	"github.com/oxgang/oxgang/experiments"
	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/trace"
	"github.com/oxgang/oxgang/trace/parse"
	"github.com/oxgang/oxgang/workload"
)

// kubernetes is the trace format of dumps.
const kubernetes = "kubernetes"

// A history is what a cluster did with its jobs. Simulations show how the jobs would have gone
// under other policies.
type history struct {
	from           bool   // ask the user's kubectl, not a file
	context, kconf string // of kubectl
	since          string // how far back, from when the dump was made; empty: all of it

	text    []byte // the trace that is simulated, as JSON Lines
	dump    *trace.Kubernetes
	notes   *parse.Summary // of what was dropped or invented when the dump was read
	earlier int            // jobs that came before since, which are left out
}

func (h *history) add(f *pflag.FlagSet) {
	f.BoolVar(&h.from, "from-cluster", false, "simulate what a Kubernetes cluster ran, as your kubectl shows it, and compare")
	f.StringVar(&h.context, "context", "", "context of kubectl to use, with --from-cluster")
	f.StringVar(&h.kconf, "kubeconfig", "", "configuration of kubectl to use, with --from-cluster")
	f.StringVar(&h.since, "since", "", "only jobs submitted at most so long before the cluster was asked: 30d, 12h")
}

// load reads the dump, if there is one, and sets what it contains of the configuration: the trace,
// and the cluster unless another was named. FIFO is always simulated, because it shows how far
// simulations can be trusted.
func (h *history) load(ctx context.Context, c *config.Config, told io.Writer) error {
	name, ok := strings.CutPrefix(c.Trace, kubernetes+":")
	isDump := ok && c.Format == "" || c.Trace != "" && c.Format == kubernetes
	switch {
	case h.from && c.Trace != "":
		return cli.Misused("--from-cluster and --trace %s, want one of them", c.Trace)
	case !h.from && (h.context != "" || h.kconf != ""):
		return cli.Misused("--context and --kubeconfig without --from-cluster")
	case !h.from && !isDump && h.since != "":
		return cli.Misused("--since %s without --from-cluster or a kubernetes trace", h.since)
	case !h.from && !isDump:
		return nil
	}
	since, err := parseSince(h.since)
	if err != nil {
		return cli.Usage(err)
	}
	if h.from {
		name = "cluster"
	}
	if err := h.read(ctx, c, name, told); err != nil {
		return err
	}
	if err := h.configure(c, name); err != nil {
		return err
	}
	return h.write(since, startCost(c), told)
}

// startCost returns what a simulation adds to the running time at every start.
func startCost(c *config.Config) time.Duration {
	if c.Sim.Restart != nil {
		return *c.Sim.Restart
	}
	return workload.DefaultRestartDelay
}

// read reads the dump, and says what was dropped of it or invented.
func (h *history) read(ctx context.Context, c *config.Config, name string, told io.Writer) (err error) {
	var text []byte
	if h.from {
		text, err = h.ask(ctx, told)
	} else {
		text, err = readAll(ctx, name)
	}
	if err != nil {
		return err
	}
	onBad, err := parse.BadRowOf(c.OnBadRow)
	if err != nil {
		return err
	}
	h.notes = new(parse.Summary)
	h.dump, err = trace.ReadKubernetes(bytes.NewReader(text), parse.Options{File: name, OnBadRow: onBad, Summary: h.notes})
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(told, h.notes)
	return err
}

// write writes the trace that is simulated: the jobs since a time, of which the first arrives at
// time zero. The observed running time includes the first start, and simulations add that: so write
// subtracts it, and leaves at least a second.
func (h *history) write(since, start time.Duration, told io.Writer) error {
	var kept []workload.Arrival
	first := h.dump.Taken.Add(-since)
	for i := range h.dump.Jobs {
		j := &h.dump.Jobs[i]
		if since > 0 && j.Submitted.Before(first) {
			continue
		}
		a := j.Arrival
		a.Duration = max(min(a.Duration, time.Second), a.Duration-start)
		kept = append(kept, a)
	}
	h.earlier = len(h.dump.Jobs) - len(kept)
	switch n := h.earlier; {
	case len(kept) == 0 && n > 0:
		return fmt.Errorf("no job of %d came in the last %s", n, h.since)
	case len(kept) == 0:
		return errors.New("no job has run on GPUs: there is nothing to simulate")
	case n > 0:
		fmt.Fprintf(told, "  jobs that came before the last %s, left out: %d\n", h.since, n)
	}
	fmt.Fprintf(told, "  a start costs %v of the running time that was observed\n", start)
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

// readAll reads a file.
func readAll(ctx context.Context, name string) ([]byte, error) {
	f, err := cli.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// configure fills in what the dump says.
func (h *history) configure(c *config.Config, name string) error {
	c.Trace, c.Format = "jobs of "+name, "jsonl"
	if !c.IsSet("on-bad-row") {
		c.OnBadRow = parse.Skip.String() // nodes that jobs ran on may be gone
	}
	if !slices.Contains(c.Policies, own) {
		c.Policies = append(slices.Clip(c.Policies), own)
	}
	if c.IsSet("cluster") {
		return nil
	}
	if h.dump.Cluster == "" {
		return cli.Hinted(fmt.Errorf("%s has no nodes with GPUs", name), "--cluster says what to simulate")
	}
	return c.Set("cluster", h.dump.Cluster, name)
}

// files are those of the machine, but for the trace of a dump, which is in memory.
func (h *history) files(ctx context.Context, name string) experiments.Files {
	files := cli.FilesUntil(ctx)
	if h.dump != nil {
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

// jobs returns the jobs of the dump by name.
func (h *history) jobs() map[job.ID]*trace.Observed {
	all := make(map[job.ID]*trace.Observed, len(h.dump.Jobs))
	for i := range h.dump.Jobs {
		all[h.dump.Jobs[i].Arrival.Spec.ID] = &h.dump.Jobs[i]
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
