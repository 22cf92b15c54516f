package simulate

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/pflag"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/cmd/oxgang/kube"
	"github.com/oxgang/oxgang/policy/registry"
	"github.com/oxgang/oxgang/simulate/config"
	"github.com/oxgang/oxgang/simulate/history"
	"github.com/oxgang/oxgang/simulate/run"
	"github.com/oxgang/oxgang/simulate/trace"
	"github.com/oxgang/oxgang/simulate/trace/slurm"
)

// historyFlags are the flags that name a history, and the history once it is loaded.
type historyFlags struct {
	*history.History        // nil: no history is simulated
	from             bool   // ask the user's kubectl, not a file
	slurm            bool   // ask the user's sacct and scontrol, not a file
	context, kconf   string // of kubectl
	since            string // see history.Options
	baseline         string // the policy that stands for the cluster's own scheduler
	must             bool   // there is nothing without a history: standard input is one
}

func (h *historyFlags) add(f *pflag.FlagSet) {
	f.BoolVar(&h.from, "from-cluster", false, "simulate what a Kubernetes cluster ran, as your kubectl shows it, and compare")
	f.BoolVar(&h.slurm, "from-slurm", false, "simulate what a Slurm cluster ran, as your sacct shows it, of 30 days or --since, and compare")
	f.StringVar(&h.context, "context", "", "context of kubectl to use, with --from-cluster")
	f.StringVar(&h.kconf, "kubeconfig", "", "configuration of kubectl to use, with --from-cluster")
	f.StringVar(&h.since, "since", "", "of recorded history, only jobs submitted at most so long before it ends: 30d, 12h")
	f.StringVar(&h.baseline, "baseline", history.DefaultBaseline, "the policy with which the best is compared; of recorded history, it stands for the cluster's own scheduler")
}

func (h *historyFlags) check(c *config.Config) error {
	switch {
	case h.from && c.Trace != "":
		return cli.Misused("--from-cluster and --trace %s, want one of them", c.Trace)
	case h.slurm && (c.Trace != "" || h.from):
		return cli.Misused("--from-slurm and --from-cluster or a trace, want one of them")
	case !h.from && (h.context != "" || h.kconf != ""):
		return cli.Misused("--context and --kubeconfig without --from-cluster")
	}
	if _, err := history.ParseSince(h.since); err != nil {
		return cli.Usage(err)
	}
	if _, err := registry.Find(cmp.Or(h.baseline, history.DefaultBaseline)); err != nil {
		return cli.Usage(fmt.Errorf("--baseline: %w", err))
	}
	return nil
}

// load reads the history, if there is one, and sets what it contains of the configuration.
func (h *historyFlags) load(ctx context.Context, c *config.Config, o history.Options, notes io.Writer) error {
	if err := h.check(c); err != nil {
		return err
	}
	o.Since, o.Baseline = h.since, h.baseline
	o.Format, o.Name = trace.Named(c.Trace, c.Format)
	switch {
	case h.from:
		o.Format, o.Name = "kubernetes", "cluster"
	case h.slurm:
		o.Format, o.Name = slurm.Format, "sacct"
	}
	past, err := h.read(ctx, c, o, notes)
	none := past == nil || past.Recorded == nil
	switch {
	case err != nil:
		return err
	case none && h.since != "":
		return cli.Misused("--since %s without --from-cluster, --from-slurm, or a trace that says when jobs started", h.since)
	case none && h.must:
		what, where := past.WithoutStarts()
		return cli.Hinted(fmt.Errorf("%s does not say when its jobs started: it is %s", c.Trace, what), "%s; oxgang simulate --trace runs it without comparing", where)
	case none:
		return nil
	}
	h.History, h.baseline = past, past.Baseline
	if h.slurm && !c.IsSet("cluster") {
		if past.Recorded.Cluster, err = askNodes(ctx, notes); err != nil {
			return err
		}
	}
	if err := past.Prepare(c, o.Name, notes); errors.Is(err, history.ErrNoNodes) {
		return cli.Hinted(err, "--cluster says what to simulate")
	} else if err != nil {
		return err
	}
	return nil
}

// read reads the history; nil: the configuration names none.
func (h *historyFlags) read(ctx context.Context, c *config.Config, o history.Options, notes io.Writer) (*history.History, error) {
	in, err := h.open(ctx, &o, notes)
	if in == nil || err != nil {
		return nil, err
	}
	defer in.Close()
	return history.Read(in, c, o, notes)
}

// open opens what may be a history; nil: there is none. Standard input is read once, so only a
// format makes it a history.
func (h *historyFlags) open(ctx context.Context, o *history.Options, notes io.Writer) (io.ReadCloser, error) {
	switch {
	case h.from:
		text, err := h.ask(ctx, notes)
		return io.NopCloser(bytes.NewReader(text)), err
	case h.slurm:
		since, _ := history.ParseSince(h.since) // checked
		text, err := askSlurm(ctx, since)
		return io.NopCloser(bytes.NewReader(text)), err
	case o.Name == "" || o.Name == "-" && !trace.Recorded(o.Format) && !h.must:
		return nil, nil
	}
	return cli.Open(ctx, o.Name)
}

// ask asks the cluster.
func (h *historyFlags) ask(ctx context.Context, notes io.Writer) ([]byte, error) {
	k := kube.Connection{Context: h.context, Config: h.kconf}
	text, lacks, err := k.Kubectl().Dump(ctx)
	if err != nil {
		return nil, kube.Hinted(err)
	}
	for _, l := range lacks {
		fmt.Fprintf(notes, "left out: %s\n", l)
	}
	return text, nil
}

// files are those of the machine, with the trace of a history, which is in memory.
func (h *historyFlags) files(ctx context.Context) run.Files {
	files := cli.FilesUntil(ctx)
	if h.History == nil {
		return files
	}
	return h.Files(files)
}
