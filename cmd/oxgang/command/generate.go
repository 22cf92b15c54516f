package command

import (
	"cmp"
	"time"

	"github.com/spf13/cobra"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/simulate/workload"
	"github.com/oxgang/oxgang/simulate/workload/generate"
)

// generation is one call of oxgang trace generate.
type generation struct {
	kind string
	seed uint64
	jobs int
	span time.Duration
	gpus int
	load float64
	part string // of tasks, in Synergy's kinds
	wide bool   // more GPUs than one, in Synergy's kinds
	to   target
}

func generateCommand() *cobra.Command {
	var g generation
	cmd := &cobra.Command{
		Use: "generate", Short: "Write a made-up trace; the same seed gives the same one",
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
	f.Uint64Var(&g.seed, "seed", 1, "seed of everything random")
	f.IntVar(&g.jobs, "jobs", 0, "jobs; 0: the kind's number")
	f.DurationVar(&g.span, "span", 0, "time over which jobs are submitted; 0: the kind's")
	f.IntVar(&g.gpus, "gpus", 0, "GPUs of the cluster that fixed-duration jobs load; 0: the kind's")
	f.Float64Var(&g.load, "load", 0, "load that fixed-duration jobs offer, or synergy jobs an hour; 0: the kind's")
	f.StringVar(&g.part, "split", "", "parts of image-language-speech of Synergy's kinds (20-70-10); empty: default of the kind")
	f.BoolVar(&g.wide, "multi-gpu", false, "jobs of Synergy's kinds request 1 to 16 GPUs as in Philly, instead of 1")
	g.to.flags(cmd)
	cli.Complete(cmd, "kind", cli.GeneratorNames())
	return cmd
}

// options returns what to generate, checked.
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
			return o, cli.Misused("--%s says nothing to kind %s, which has no such thing", of.name, g.kind)
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
