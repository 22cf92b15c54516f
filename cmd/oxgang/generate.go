package main

import (
	"cmp"
	"time"

	"github.com/spf13/cobra"

	"github.com/oxgang/oxgang/workload"
)

// generation is one call of oxgang trace generate.
type generation struct {
	kind string
	seed uint64
	jobs int
	span time.Duration
	gpus int
	load float64
	to   target
}

func generateCommand() *cobra.Command {
	var g generation
	cmd := &cobra.Command{
		Use: "generate", Short: "Write a made-up trace; the same seed gives the same one",
		Example: `  oxgang trace generate --kind newtrace-like --seed 7 -o w.jsonl
  oxgang trace generate --kind fixed-duration --jobs 1000 --gpus 64 --load 0.8`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := g.to.check(); err != nil {
				return err
			}
			o, err := g.options(cmd)
			if err != nil {
				return usageError{err}
			}
			all, err := workload.Generate(o)
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
	f.Float64Var(&g.load, "load", 0, "load that fixed-duration jobs offer; 0: the kind's")
	g.to.flags(cmd)
	complete(cmd, "kind", kindNames())
	return cmd
}

// options returns what to generate, checked.
func (g *generation) options(cmd *cobra.Command) (workload.GenerateOptions, error) {
	if err := checkKind(g.kind); err != nil {
		return workload.GenerateOptions{}, err
	}
	o := workload.DefaultGenerateOptions(g.kind)
	for _, name := range []string{"gpus", "load"} {
		if o.GPUs == 0 && cmd.Flags().Changed(name) {
			return o, misused("--%s says nothing to kind %s, whose jobs are known by their application", name, g.kind)
		}
	}
	o.Seed = g.seed
	o.Jobs = cmp.Or(g.jobs, o.Jobs)
	o.Span = cmp.Or(g.span, o.Span)
	o.GPUs = cmp.Or(g.gpus, o.GPUs)
	o.Load = cmp.Or(g.load, o.Load)
	return o, o.Validate()
}

func kindNames() []string {
	var names []string
	for _, k := range workload.GenerateKinds() {
		names = append(names, k.Name)
	}
	return names
}
