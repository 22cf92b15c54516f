package simulate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/simulate/budget"
	"github.com/oxgang/oxgang/simulate/config"
	"github.com/oxgang/oxgang/simulate/run"
)

var planKeys = []string{
	"format", "limit", "on-bad-row", "mapping", "zone", "profiles", "profiles.table", "gpu-like", "generate.kind", "generate.jobs", "generate.span",
	"seed", "jobs.applications", "jobs.rigid", "jobs.strong-scaling", "jobs.max-gpus", "jobs.restart", "jobs.slowdown",
	"round", "sim.start", "sim.release", "set",
}

const planAssumptions = `
Jobs come from the trace, or are generated as for simulate. Classes are its applications; the
rate of a class is its number of jobs over the time of the trace. Jobs run as profiled, with the
best batch size on as few nodes as possible. Jobs with a known duration and no model are equally
fast on all GPU types and speed up linearly if they may use more GPUs. Each start and each change
of GPUs costs the application's restart time.

A price list is a YAML file. Without one, budgets are in GPUs, that is, GPU-hours per hour.

  name: on-demand
  currency: $
  offers:
    - name: t4            # any name
      type: t4            # GPU type of the profiles
      gpus: 4             # of a node
      price: 0.50         # per GPU-hour
      most: 100           # nodes at a time; default: no limit
      interruptions: 0.1  # per node and hour; default: none
      kind: spot          # or on-demand, reserved; informative

Plans count only GPUs that jobs use; idle reserved GPUs cost extra.`

type planning struct {
	gpus, format string
	goodputs     string // in place of profiles; needs sizes
	sizes        string
	prices       []string
	widest       int
	config       *config.Config
	inputs       *run.Inputs // set by load
	stderr       io.Writer
}

func (p *planning) flags(cmd *cobra.Command) {
	p.config = config.Default()
	f := cmd.Flags()
	f.String("workload", "", "trace file, or format:file; default: a generated trace")
	for _, k := range config.Keys() {
		if k.HasOption() && slices.Contains(planKeys, k.Name) {
			cli.AddSetting(f, k, p.config.Get(k.Name))
		}
	}
	f.StringVar(&p.gpus, "gpus", "t4:4", "GPU types and GPUs per node without a price list, such as t4:4,a100:8")
	f.StringVar(&p.goodputs, "goodputs", "", "measured goodputs (CSV) instead of profiles: application,epoch,gpus,goodput[,gpu_type]")
	f.StringVar(&p.sizes, "epoch-sizes", "", "sizes of epochs for --goodputs (CSV): application[,epoch],size[,restart_s]")
	f.IntVar(&p.widest, "widest", 64, "maximum GPUs of a job")
	f.StringVarP(&p.format, "output", "o", "table", strings.Join(budget.Formats, ", "))
	cli.Complete(cmd, "output", budget.Formats)
}

func (p *planning) load(cmd *cobra.Command, lists []*budget.PriceList) error {
	errs := []error{p.config.Set("cluster", roomFor(lists, p.widest), "default")}
	for _, k := range config.Keys() {
		option := k.Option()
		if k.Name == "trace" {
			option = "workload"
		}
		if f := cmd.Flags().Lookup(option); f != nil && f.Changed {
			if err := p.config.Set(k.Name, f.Value.String(), "flag"); err != nil {
				errs = append(errs, fmt.Errorf("--%s: %w", option, cli.TrimPrefix(err, k.Name+": ")))
			}
		}
	}
	for _, k := range config.Keys() {
		if k.Name != "trace" && p.config.Origin(k.Name) == "flag" && !slices.Contains(planKeys, k.Name) {
			errs = append(errs, fmt.Errorf("--set %s: not used by plans", k.Name))
		}
	}
	if len(p.config.Settings) > 0 {
		errs = append(errs, fmt.Errorf("--set %s: want one of %s", strings.Join(p.config.Settings, ","), strings.Join(planKeys, ", ")))
	}
	if p.config.Trace == "" {
		errs = append(errs, cli.CheckGenerator(p.config.Generate.Kind))
	}
	if err := errors.Join(append(errs, p.config.Validate())...); err != nil {
		return cli.Usage(err)
	}
	return nil
}

func (p *planning) check(cmd *cobra.Command) error {
	switch {
	case !slices.Contains(budget.Formats, p.format):
		return cli.Misused("output %q, want one of %s", p.format, strings.Join(budget.Formats, ", "))
	case p.widest < 1 || p.widest > 4096:
		return cli.Misused("--widest %d, want 1 to 4096 GPUs", p.widest)
	case (p.goodputs == "") != (p.sizes == ""):
		return cli.Misused("--goodputs %q and --epoch-sizes %q: use both or neither", p.goodputs, p.sizes)
	case len(p.prices) > 0 && cmd.Flags().Changed("gpus"):
		return cli.Misused("--gpus %s and a price list, which defines the GPUs: use one of them", p.gpus)
	}
	return oneWorkload(cmd)
}

func oneWorkload(cmd *cobra.Command) error {
	file := cmd.Flags().Lookup("workload").Value.String()
	for _, name := range planKeys {
		option := (config.Key{Name: name}).Option()
		switch given := cmd.Flags().Changed(option); {
		case given && file != "" && strings.HasPrefix(name, "generate."):
			return cli.Misused("--%s and --workload %s: use one of them", option, file)
		case given && file == "" && name == "limit":
			return cli.Misused("--limit needs --workload; use --generate-jobs for generated traces")
		}
	}
	return nil
}

func roomFor(lists []*budget.PriceList, widest int) string {
	var parts []string
	for _, l := range lists {
		for _, o := range l.Offers {
			if part := fmt.Sprintf("%s:%dx%d", o.Type, (widest+o.GPUs-1)/o.GPUs, o.GPUs); !slices.Contains(parts, part) {
				parts = append(parts, part)
			}
		}
	}
	return strings.Join(parts, ",")
}

func (p *planning) lists(ctx context.Context) ([]*budget.PriceList, error) {
	if len(p.prices) == 0 {
		l, err := budget.Unpriced(p.gpus)
		if err != nil {
			return nil, cli.Misused("--gpus %w", err)
		}
		return []*budget.PriceList{l}, nil
	}
	var lists []*budget.PriceList
	for _, file := range p.prices {
		l, err := readPrices(ctx, file)
		if err != nil {
			return nil, err
		}
		lists = append(lists, l)
	}
	return lists, budget.CheckTogether(lists)
}

func readPrices(ctx context.Context, file string) (*budget.PriceList, error) {
	f, err := cli.Open(ctx, file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return budget.ReadPriceList(f, file)
}

func (p *planning) planners(cmd *cobra.Command) ([]*budget.Planner, error) {
	p.stderr = cmd.ErrOrStderr()
	if err := p.check(cmd); err != nil {
		return nil, err
	}
	lists, err := p.lists(cmd.Context())
	if err != nil {
		return nil, err
	}
	if err := p.load(cmd, lists); err != nil {
		return nil, err
	}
	w, err := p.workload(cmd.Context())
	if err != nil {
		return nil, err
	}
	planners := make([]*budget.Planner, len(lists))
	for i, l := range lists {
		if planners[i], err = budget.NewPlanner(w, l, p.widest); err != nil {
			return nil, err
		}
	}
	return planners, nil
}

func (p *planning) workload(ctx context.Context) (*budget.Workload, error) {
	in, err := run.Load(p.config, cli.FilesUntil(ctx))
	if err != nil {
		return nil, err
	}
	if in.Read != nil && len(in.Read.Notes)+in.Read.Bad > 0 {
		fmt.Fprint(p.stderr, in.Read)
	}
	if len(in.Arrivals) == 0 {
		return nil, errors.New("the trace has no jobs")
	}
	p.inputs = in
	w, err := budget.NewWorkload(in.Arrivals, in.Catalog, p.config.Sim.Restart)
	if err != nil || p.goodputs == "" {
		return w, err
	}
	return w, p.measured(ctx, w)
}

func (p *planning) measured(ctx context.Context, w *budget.Workload) error {
	goodputs, err := cli.Open(ctx, p.goodputs)
	if err != nil {
		return err
	}
	defer goodputs.Close()
	sizes, err := cli.Open(ctx, p.sizes)
	if err != nil {
		return err
	}
	defer sizes.Close()
	g, err := budget.ReadGoodputs(goodputs, sizes, p.goodputs, p.sizes)
	if err != nil {
		return err
	}
	return w.Measured(g)
}

func (p *planning) workloadName() string {
	return cmp.Or(p.config.Trace, "generated "+p.config.Generate.Kind+" trace")
}
