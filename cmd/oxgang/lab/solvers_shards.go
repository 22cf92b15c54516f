package lab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/pflag"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/internal/usage"
	"github.com/oxgang/oxgang/lab/casestudy/shards"
	"github.com/oxgang/oxgang/opt/exact"
)

type shardsStudy struct{ spec shards.Spec }

func newShardsStudy() *shardsStudy { return &shardsStudy{shards.DefaultSpec()} }

func (s *shardsStudy) flags(f *pflag.FlagSet) {
	f.IntVar(&s.spec.Shards, "shards", 128, "shards: number of shards")
	f.IntVar(&s.spec.Servers, "servers", 16, "shards: number of servers")
	f.Float64Var(&s.spec.Epsilon, "epsilon", s.spec.Epsilon, "shards: allowed relative difference of a server's load from the mean")
}

func (*shardsStudy) methods() (defaults, all []string) {
	defaults = []string{"heuristic", "copter", "lp-relaxed", "pop:4"}
	if !exact.Available {
		defaults = defaults[:2]
	}
	return defaults, shards.Methods()
}

func (s *shardsStudy) check(m *measuring) error {
	s.spec.Drift = shards.Drift(cmp.Or(m.load, string(shards.Stateless)))
	s.spec.Seed = m.seed
	errs := []error{s.spec.Validate(), m.checkRounds(100, 5)}
	for _, name := range m.names {
		if err := shards.CheckMethod(name); err != nil && !errors.Is(err, exact.ErrUnavailable) {
			errs = append(errs, err)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return cli.Usage(err)
	}
	return nil
}

func (s *shardsStudy) run(ctx context.Context, m *measuring) error {
	if err := s.check(m); err != nil {
		return err
	}
	var runs []shards.Run
	for _, name := range m.names {
		b, err := shards.NewMethod(name, s.spec.Seed, usage.ProcessTime)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		trial := shards.Trial{Spec: s.spec, Rounds: m.rounds, Clock: usage.ProcessTime, Report: func(r *shards.Round) {
			m.note("%s, round %d: %d movements, %v\n", name, r.Round, r.Movements, r.CPU)
		}}
		r, err := trial.Simulate(ctx, b)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		runs = append(runs, shards.Run{Method: name, Spec: s.spec, Rounds: r})
	}
	err := m.write(
		func(w io.Writer) error { return shards.CSV(w, runs) },
		func(w io.Writer) error { return shards.HTML(w, runs, m.skip) })
	if err != nil {
		return err
	}
	return shards.Table(m.stdout, runs, m.skip)
}
