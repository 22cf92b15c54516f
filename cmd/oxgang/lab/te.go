package lab

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/lab/casestudy"
	"github.com/oxgang/oxgang/lab/casestudy/te"
	"github.com/oxgang/oxgang/opt/exact"
)

type teStudy struct {
	topology, matrices string
	nodes              int
	traffic            te.Traffic
	demand             string
	heaviest           int
	paths              int
	move               float64
	methods            []string
	rounds, skip       int
	csv, html          string
	quiet              bool
}

func teCommand() *cobra.Command {
	s := teStudy{traffic: te.DefaultTraffic(te.Poisson, 1)}
	cmd := &cobra.Command{
		Use:   "te",
		Short: "Route demands over the links of a wide-area network, round after round",
		Long: `Maximise the flow over the links of a wide-area network, round after round as demands change.
The table has means over the rounds after the start: flow, gap to the best bound proved by any
method, CPU time. Without a topology file, a small network is generated. Methods: lp-all (also
lp-all:ipm, lp-all:pdlp), lp-top (also lp-top:lp-first), pop:K and copter.`,
		Example: `  oxgang lab te --demand bimodal --methods lp-all,lp-top,copter
  oxgang lab te --topology Kdl.json --methods lp-top,pop:64,copter --html te.html`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return s.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	s.flags(cmd)
	return cmd
}

func (s *teStudy) flags(cmd *cobra.Command) {
	methods := []string{"lp-all", "lp-top", "pop:4", "copter"}
	if !exact.Available {
		methods = []string{"copter"}
	}
	var kinds []string
	for _, k := range te.Kinds() {
		kinds = append(kinds, string(k))
	}
	f := cmd.Flags()
	f.StringVar(&s.topology, "topology", "", "network in node-link JSON; default: a generated one")
	f.IntVar(&s.nodes, "nodes", 24, "nodes of the generated network")
	f.StringVar(&s.demand, "demand", string(te.Poisson), "random demands: poisson, bimodal, gravity or uniform")
	cli.Complete(cmd, "demand", kinds)
	f.StringVar(&s.matrices, "matrices", "", "measured demands, a matrix for each round, instead of random ones")
	f.Float64Var(&s.traffic.Load, "load", s.traffic.Load, "sum of demand times hops over the sum of capacities")
	f.Float64Var(&s.traffic.Lambda, "lambda", s.traffic.Lambda, "poisson: mean at 0 hops, before the load scales it")
	f.Float64Var(&s.traffic.Decay, "decay", s.traffic.Decay, "poisson: factor on the mean for each hop")
	f.IntVar(&s.heaviest, "heaviest", 0, "number of largest demands to keep; 0: all")
	f.IntVar(&s.paths, "paths", 4, "maximum paths of a pair")
	f.Float64Var(&s.move, "move", 0.1, "maximum relative change of a demand between rounds")
	f.StringSliceVar(&s.methods, "methods", methods, "methods, comma-separated")
	cli.CompleteList(cmd, "methods", te.Methods(), true)
	f.IntVar(&s.rounds, "rounds", 20, "rounds")
	f.IntVar(&s.skip, "skip", -1, "first rounds to exclude from the table; -1: a quarter")
	f.Uint64Var(&s.traffic.Seed, "seed", 1, "random seed")
	f.StringVar(&s.csv, "csv", "", "CSV file to write, with a row for each round")
	f.StringVar(&s.html, "html", "", "HTML page with plots to write")
	f.BoolVarP(&s.quiet, "quiet", "q", false, "no progress")
}

func (s *teStudy) check() ([]te.Method, error) {
	s.traffic.Kind = te.Kind(s.demand)
	errs := []error{s.traffic.Validate()}
	for _, n := range []struct {
		name       string
		value      int
		least, top int
	}{
		{"rounds", s.rounds, 1, 1_000_000},
		{"paths", s.paths, 1, 100},
		{"heaviest", s.heaviest, 0, 1 << 30},
		{"nodes", s.nodes, 2, 5000},
	} {
		if n.value < n.least || n.value > n.top {
			errs = append(errs, fmt.Errorf("%s %d, want %d to %d", n.name, n.value, n.least, n.top))
		}
	}
	if !(s.move >= 0 && s.move < 1) {
		errs = append(errs, fmt.Errorf("move %v, want 0 to less than 1", s.move))
	}
	if s.skip < 0 {
		s.skip = s.rounds / 4
	}
	if s.skip >= s.rounds {
		errs = append(errs, fmt.Errorf("skip %d of %d rounds, want fewer", s.skip, s.rounds))
	}
	if len(s.methods) == 0 {
		errs = append(errs, errors.New("no methods, want at least one"))
	}
	var methods []te.Method
	for _, name := range s.methods {
		m, err := te.NewMethod(name, s.traffic.Seed, casestudy.ProcessTime)
		if errors.Is(err, exact.ErrUnavailable) {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		errs = append(errs, err)
		methods = append(methods, m)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, cli.Usage(err)
	}
	return methods, nil
}

func (s *teStudy) run(ctx context.Context, stdout, stderr io.Writer) error {
	methods, err := s.check()
	if err != nil {
		return err
	}
	spec, err := s.spec(ctx)
	if err != nil {
		return err
	}
	rounds, err := te.Run(ctx, *spec, methods, s.rounds, casestudy.ProcessTime, func(done []te.Round) {
		for i := range done {
			if r := &done[i]; !s.quiet {
				fmt.Fprintf(stderr, "round %d: %s: flow %.0f of %.0f, gap %.3f %%, %.2f s\n",
					r.Round, r.Method, r.Flow, r.Demand, 100*r.Gap(), r.CPU.Seconds())
			}
		}
	})
	if err != nil {
		return err
	}
	if !s.quiet {
		fmt.Fprintf(stderr, "memory: %d MB at most\n", casestudy.PeakMemory()>>20)
	}
	if s.csv != "" {
		if err := cli.Whole(s.csv, func(w io.Writer) error { return te.CSV(w, rounds) }); err != nil {
			return err
		}
	}
	if s.html != "" {
		title := fmt.Sprintf("%s, %s demands", spec.Topology.Name, s.what())
		if err := cli.Whole(s.html, func(w io.Writer) error { return te.HTML(w, title, spec.Demands, rounds, s.skip) }); err != nil {
			return err
		}
	}
	return te.Table(stdout, rounds, s.skip)
}

func (s *teStudy) what() string {
	if s.matrices != "" {
		return "measured"
	}
	return s.demand
}

func (s *teStudy) spec(ctx context.Context) (*te.Spec, error) {
	t, err := s.network(ctx)
	if err != nil {
		return nil, err
	}
	spec := &te.Spec{Topology: t, Paths: s.paths, Move: s.move, Seed: s.traffic.Seed}
	if s.matrices != "" {
		f, err := cli.Open(ctx, s.matrices)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		if spec.Rounds, err = te.ReadMatrices(s.matrices, f, t); err != nil {
			return nil, err
		}
		if len(spec.Rounds) < s.rounds {
			return nil, cli.Hinted(fmt.Errorf("%s: %d matrices for %d rounds", s.matrices, len(spec.Rounds), s.rounds),
				"--rounds %d uses all of them", len(spec.Rounds))
		}
		spec.Demands = spec.Rounds[0]
		return spec, nil
	}
	if spec.Demands, err = s.traffic.Demands(t); err != nil {
		return nil, err
	}
	if s.heaviest > 0 {
		spec.Demands = te.Heaviest(spec.Demands, s.heaviest)
	}
	return spec, nil
}

func (s *teStudy) network(ctx context.Context) (*te.Topology, error) {
	if s.topology == "" {
		return te.Generate(s.nodes, s.traffic.Seed)
	}
	f, err := cli.Open(ctx, s.topology)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return te.ReadTopology(s.topology, f)
}
