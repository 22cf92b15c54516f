package lab

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/lab/casestudy"
	"github.com/oxgang/oxgang/lab/casestudy/shards"
	"github.com/oxgang/oxgang/opt/exact"
)

type shardsStudy struct {
	spec    shards.Spec
	load    string
	methods []string
	rounds  int
	skip    int
	csv     string
	html    string
	quiet   bool
}

func shardsCommand() *cobra.Command {
	s := shardsStudy{spec: shards.DefaultSpec()}
	cmd := &cobra.Command{
		Use:   "shards",
		Short: "Balance the load of database shards over servers, round after round",
		Long: `Balance the load of database shards over servers, round after round, with each method.
Every method continues from its own placement. The table has means over the rounds after the
start: replicas started, difference between the most and the least loaded server, CPU time.
Methods: heuristic, exact, lp-relaxed, pop:K and copter.`,
		Example: `  oxgang lab shards --load stateful
  oxgang lab shards --shards 1024 --servers 128 --methods lp-relaxed,copter --html shards.html`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return s.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	methods := []string{"heuristic", "copter", "lp-relaxed", "pop:4"}
	if !exact.Available {
		methods = methods[:2]
	}
	f := cmd.Flags()
	f.IntVar(&s.spec.Shards, "shards", 128, "shards")
	f.IntVar(&s.spec.Servers, "servers", 16, "servers")
	f.StringVar(&s.load, "load", string(shards.Stateless), "stateless (another Zipf exponent every round) or stateful (up or down by a tenth)")
	cli.Complete(cmd, "load", []string{string(shards.Stateless), string(shards.Stateful)})
	f.StringSliceVar(&s.methods, "methods", methods, "methods, comma-separated")
	cli.CompleteList(cmd, "methods", shards.Methods(), true)
	f.IntVar(&s.rounds, "rounds", 100, "rounds")
	f.IntVar(&s.skip, "skip", -1, "first rounds to exclude from the table; -1: a fifth")
	f.Float64Var(&s.spec.Epsilon, "epsilon", s.spec.Epsilon, "allowed relative difference of a server's load from the mean")
	f.Uint64Var(&s.spec.Seed, "seed", 1, "random seed")
	f.StringVar(&s.csv, "csv", "", "CSV file to write, with a row for each round")
	f.StringVar(&s.html, "html", "", "HTML page with plots to write")
	f.BoolVarP(&s.quiet, "quiet", "q", false, "no progress")
	return cmd
}

func (s *shardsStudy) check() error {
	s.spec.Drift = shards.Drift(s.load)
	errs := []error{s.spec.Validate()}
	if s.rounds < 1 || s.rounds > 1_000_000 {
		errs = append(errs, fmt.Errorf("rounds %d, want 1 to 1000000", s.rounds))
	}
	if s.skip < 0 {
		s.skip = s.rounds / 5
	}
	if s.skip >= s.rounds {
		errs = append(errs, fmt.Errorf("skip %d of %d rounds, want fewer", s.skip, s.rounds))
	}
	if len(s.methods) == 0 {
		errs = append(errs, errors.New("no methods, want at least one"))
	}
	for _, m := range s.methods {
		if err := shards.CheckMethod(m); err != nil && !errors.Is(err, exact.ErrUnavailable) {
			errs = append(errs, err)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return cli.Usage(err)
	}
	return nil
}

func (s *shardsStudy) run(ctx context.Context, stdout, stderr io.Writer) error {
	if err := s.check(); err != nil {
		return err
	}
	var runs []shards.Run
	for _, m := range s.methods {
		b, err := shards.NewMethod(m, s.spec.Seed, casestudy.ProcessTime)
		if err != nil {
			return fmt.Errorf("%s: %w", m, err)
		}
		trial := shards.Trial{Spec: s.spec, Rounds: s.rounds, Clock: casestudy.ProcessTime}
		if !s.quiet {
			trial.Report = func(r *shards.Round) {
				fmt.Fprintf(stderr, "%s, round %d: %d movements, %v\n", m, r.Round, r.Movements, r.CPU)
			}
		}
		r, err := trial.Simulate(ctx, b)
		if err != nil {
			return fmt.Errorf("%s: %w", m, err)
		}
		runs = append(runs, shards.Run{Method: m, Spec: s.spec, Rounds: r})
	}
	if s.csv != "" {
		if err := cli.Whole(s.csv, func(w io.Writer) error { return shards.CSV(w, runs) }); err != nil {
			return err
		}
	}
	if s.html != "" {
		if err := cli.Whole(s.html, func(w io.Writer) error { return shards.HTML(w, runs, s.skip) }); err != nil {
			return err
		}
	}
	return shards.Table(stdout, runs, s.skip)
}
