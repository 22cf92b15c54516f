package command

import (
	"cmp"
	"time"

	"github.com/spf13/cobra"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/simulate/workload"
	"github.com/oxgang/oxgang/simulate/workload/generate"
)

type generation struct {
	kind string
	seed uint64
	jobs int
	span time.Duration
	gpus int
	load float64
	part string // shares of tasks, for Synergy's kinds
	wide bool   // jobs of several GPUs, for Synergy's kinds
	to   target
}

func generateCommand() *cobra.Command {
	var g generation
	cmd := &cobra.Command{
		Use: "generate", Short: "Generate a trace, reproducibly from a seed",
		Example: `  oxgang trace generate --kind newtrace-like --seed 7 -o w.jsonl
  oxgang trace generate --kind fixed-duration --jobs 1000 --gpus 64 --load 0.8
  oxgang trace generate --kind synergy --split 50-0-50 --load 4 --multi-gpu`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := g.to.check(); err != nil {
				return err
			}
			o, err := g.options(cmd)
			if err != nil {
				return cli.Usage(err)
			}
			all, err := generate.Arrivals(o)
			if err != nil {
				return err
			}
			return g.to.write(cmd.OutOrStdout(), func(yield func(workload.Arrival, error) bool) {
				for _, a := range all {
					if !yield(a, nil) {
						return
					}
				}
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&g.kind, "kind", "philly-like", "kind of trace")
	f.Uint64Var(&g.seed, "seed", 1, "random seed")
	f.IntVar(&g.jobs, "jobs", 0, "number of jobs; 0: default of the kind")
	f.DurationVar(&g.span, "span", 0, "time over which jobs are submitted; 0: default of the kind")
	f.IntVar(&g.gpus, "gpus", 0, "GPUs of the cluster, for kind fixed-duration; 0: default of the kind")
	f.Float64Var(&g.load, "load", 0, "offered load (fixed-duration) or jobs per hour (synergy); 0: default of the kind")
	f.StringVar(&g.part, "split", "", "shares of image, language and speech jobs, such as 20-70-10, for Synergy's kinds; empty: default of the kind")
	f.BoolVar(&g.wide, "multi-gpu", false, "jobs of 1 to 16 GPUs as in Philly, instead of 1, for Synergy's kinds")
	g.to.flags(cmd)
	cli.Complete(cmd, "kind", cli.GeneratorNames())
	return cmd
}

func (g *generation) options(cmd *cobra.Command) (generate.Options, error) {
	if err := cli.CheckGenerator(g.kind); err != nil {
		return generate.Options{}, err
	}
	o := generate.DefaultOptions(g.kind)
	for _, of := range []struct {
		name string
		has  bool
	}{{"gpus", o.GPUs > 0}, {"load", o.Load > 0}, {"split", o.Split != ""}, {"multi-gpu", o.Split != ""}} {
		if !of.has && cmd.Flags().Changed(of.name) {
			return o, cli.Misused("--%s does not apply to kind %s", of.name, g.kind)
		}
	}
	o.Seed = g.seed
	o.Jobs = cmp.Or(g.jobs, o.Jobs)
	o.Span = cmp.Or(g.span, o.Span)
	o.GPUs = cmp.Or(g.gpus, o.GPUs)
	o.Load = cmp.Or(g.load, o.Load)
	o.Split, o.MultiGPU = cmp.Or(g.part, o.Split), g.wide
	return o, o.Validate()
}
