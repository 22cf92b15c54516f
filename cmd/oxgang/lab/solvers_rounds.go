package lab

import (
	"context"
	"io"

	"github.com/spf13/pflag"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/lab/casestudy/rounds"
)

type roundsStudy struct {
	gpus, jobs int
	perNode    []int
}

func (r *roundsStudy) flags(f *pflag.FlagSet) {
	f.IntVar(&r.gpus, "gpus", 10_000, "rounds: GPUs, of seven types")
	f.IntVar(&r.jobs, "jobs", 0, "rounds: number of jobs; 0: one per seven GPUs")
	f.IntSliceVar(&r.perNode, "per-node", nil, "rounds: GPUs per node of each type, comma-separated; default 8, and 2,2,2,2,4,8,8 for 10,000 GPUs")
}

func (*roundsStudy) methods() (defaults, all []string) {
	return []string{"price", "copter", "pop:16"}, rounds.KindNames()
}

func (r *roundsStudy) run(ctx context.Context, m *measuring) error {
	s := rounds.Study{Spec: rounds.NewSpec(r.gpus), Engines: m.names, Rounds: m.rounds}
	s.Spec.Seed = m.seed
	if s.Rounds == 0 {
		s.Rounds = 20
	}
	if r.jobs != 0 {
		s.Spec.Jobs = r.jobs
	}
	if len(r.perNode) > 0 {
		s.Spec.PerNode = r.perNode
	}
	if err := s.Validate(); err != nil {
		return cli.Usage(err)
	}
	all, err := s.Run(ctx, func(k rounds.Measurement) { m.note("%s, round %d: %v\n", k.Engine, k.Round, k.Total()) })
	if err != nil {
		return err
	}
	err = m.write(
		func(w io.Writer) error { return rounds.CSV(w, all) },
		func(w io.Writer) error { return rounds.HTML(w, s, all) })
	if err != nil {
		return err
	}
	return rounds.Table(m.stdout, rounds.Summarise(all))
}
