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
	"github.com/oxgang/oxgang/cmd/oxgang/live"
	"github.com/oxgang/oxgang/policy/registry"
	"github.com/oxgang/oxgang/simulate/config"
	"github.com/oxgang/oxgang/simulate/history"
	"github.com/oxgang/oxgang/simulate/run"
	"github.com/oxgang/oxgang/simulate/trace"
	"github.com/oxgang/oxgang/simulate/trace/slurm"
)

type historyFlags struct {
	*history.History        // nil without a history
	from             bool   // from the user's kubectl
	slurm            bool   // from the user's sacct and scontrol
	context, kconf   string // of kubectl
	since            string
	baseline         string // in place of the cluster's own scheduler
	must             bool
}

func (h *historyFlags) add(f *pflag.FlagSet) {
	f.BoolVar(&h.from, "from-cluster", false, "simulate the jobs of a Kubernetes cluster, read with kubectl, and compare")
	f.BoolVar(&h.slurm, "from-slurm", false, "simulate the jobs of a Slurm cluster, read with sacct (30 days, or --since), and compare")
	f.StringVar(&h.context, "context", "", "context of kubectl for --from-cluster")
	f.StringVar(&h.kconf, "kubeconfig", "", "configuration file of kubectl for --from-cluster")
	f.StringVar(&h.since, "since", "", "use only the last part of the recorded history: 30d, 12h")
	f.StringVar(&h.baseline, "baseline", history.DefaultBaseline, "policy to compare with; for a recorded history, in place of the cluster's own scheduler")
}

func (h *historyFlags) check(c *config.Config) error {
	switch {
	case h.from && c.Trace != "":
		return cli.Misused("use either --from-cluster or --trace %s", c.Trace)
	case h.slurm && (c.Trace != "" || h.from):
		return cli.Misused("use one of --from-slurm, --from-cluster and a trace")
	case !h.from && (h.context != "" || h.kconf != ""):
		return cli.Misused("--context and --kubeconfig need --from-cluster")
	}
	if _, err := history.ParseSince(h.since); err != nil {
		return cli.Usage(err)
	}
	if _, err := registry.Find(cmp.Or(h.baseline, history.DefaultBaseline)); err != nil {
		return cli.Usage(fmt.Errorf("--baseline: %w", err))
	}
	return nil
}

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
		return cli.Misused("--since %s needs --from-cluster, --from-slurm, or a trace with start times", h.since)
	case none && h.must:
		what, where := past.WithoutStarts()
		return cli.Hinted(fmt.Errorf("%s has no start times of jobs: it is %s", c.Trace, what), "%s; oxgang simulate --trace simulates this table, but cannot compare with real times", where)
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
		return cli.Hinted(err, "set the nodes with --cluster")
	} else if err != nil {
		return err
	}
	return nil
}

func (h *historyFlags) read(ctx context.Context, c *config.Config, o history.Options, notes io.Writer) (*history.History, error) {
	var err error
	if c.Mapping != "" {
		if o.Mapping, err = cli.ReadMapping(ctx, c.Mapping); err != nil {
			return nil, err
		}
	}
	in, err := h.open(ctx, &o, notes)
	if in == nil || err != nil {
		return nil, err
	}
	defer in.Close()
	return history.Read(in, c, o, notes)
}

// open returns nil for standard input without a format, because it can be read only once.
func (h *historyFlags) open(ctx context.Context, o *history.Options, notes io.Writer) (io.ReadCloser, error) {
	switch {
	case h.from:
		text, err := h.ask(ctx, notes)
		return io.NopCloser(bytes.NewReader(text)), err
	case h.slurm:
		since, _ := history.ParseSince(h.since) // checked before
		text, err := askSlurm(ctx, since)
		return io.NopCloser(bytes.NewReader(text)), err
	case o.Name == "" || o.Name == "-" && !trace.Recorded(o.Format) && !h.must:
		return nil, nil
	}
	return cli.Open(ctx, o.Name)
}

func (h *historyFlags) ask(ctx context.Context, notes io.Writer) ([]byte, error) {
	k := live.KubectlConnection{Context: h.context, Config: h.kconf}
	text, lacks, err := k.Kubectl().Dump(ctx)
	if err != nil {
		return nil, live.KubectlHinted(err)
	}
	for _, l := range lacks {
		fmt.Fprintf(notes, "missing: %s\n", l)
	}
	return text, nil
}

func (h *historyFlags) files(ctx context.Context) run.Files {
	files := cli.FilesUntil(ctx)
	if h.History == nil {
		return files
	}
	return h.Files(files)
}
