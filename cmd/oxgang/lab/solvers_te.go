package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/pflag"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/internal/usage"
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
}

func newTEStudy() *teStudy { return &teStudy{traffic: te.DefaultTraffic(te.Poisson, 1)} }

func (s *teStudy) flags(f *pflag.FlagSet) {
	f.StringVar(&s.topology, "topology", "", "te: network in node-link JSON; default: a generated one")
	f.IntVar(&s.nodes, "nodes", 24, "te: nodes of the generated network")
	f.StringVar(&s.demand, "demand", string(te.Poisson), "te: random demands: poisson, bimodal, gravity or uniform")
	f.StringVar(&s.matrices, "matrices", "", "te: measured demands, a matrix for each round, instead of random ones")
	f.Float64Var(&s.traffic.Lambda, "lambda", s.traffic.Lambda, "te: poisson: mean at 0 hops, before the load scales it")
	f.Float64Var(&s.traffic.Decay, "decay", s.traffic.Decay, "te: poisson: factor on the mean for each hop")
	f.IntVar(&s.heaviest, "heaviest", 0, "te: number of largest demands to keep; 0: all")
	f.IntVar(&s.paths, "paths", 4, "te: maximum paths of a pair")
	f.Float64Var(&s.move, "move", 0.1, "te: maximum relative change of a demand between rounds")
}

func demandNames() (names []string) {
	for _, k := range te.Kinds() {
		names = append(names, string(k))
	}
	return names
}

func (*teStudy) methods() (defaults, all []string) {
	if !exact.Available {
		return []string{"copter"}, te.Methods()
	}
	return []string{"lp-all", "lp-top", "pop:4", "copter"}, te.Methods()
}

func (s *teStudy) check(m *measuring) ([]te.Method, error) {
	s.traffic.Kind, s.traffic.Seed = te.Kind(s.demand), m.seed
	var errs []error
	if m.load != "" {
		var err error
		if s.traffic.Load, err = strconv.ParseFloat(m.load, 64); err != nil {
			errs = append(errs, fmt.Errorf("load %q, want a number", m.load))
		}
	}
	errs = append(errs, s.traffic.Validate(), m.checkRounds(20, 4))
	for _, n := range []struct {
		name       string
		value      int
		least, top int
	}{
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
	var methods []te.Method
	for _, name := range m.names {
		method, err := te.NewMethod(name, m.seed, usage.ProcessTime)
		if errors.Is(err, exact.ErrUnavailable) {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		errs = append(errs, err)
		methods = append(methods, method)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, cli.Usage(err)
	}
	return methods, nil
}

func (s *teStudy) run(ctx context.Context, m *measuring) error {
	methods, err := s.check(m)
	if err != nil {
		return err
	}
	spec, err := s.spec(ctx, m.rounds)
	if err != nil {
		return err
	}
	rounds, err := te.Run(ctx, *spec, methods, m.rounds, usage.ProcessTime, func(done []te.Round) {
		for i := range done {
			r := &done[i]
			m.note("round %d: %s: flow %.0f of %.0f, gap %.3f %%, %.2f s\n",
				r.Round, r.Method, r.Flow, r.Demand, 100*r.Gap(), r.CPU.Seconds())
		}
	})
	if err != nil {
		return err
	}
	m.note("memory: %d MB at most\n", usage.PeakMemory()>>20)
	title := fmt.Sprintf("%s, %s demands", spec.Topology.Name, s.what())
	err = m.write(
		func(w io.Writer) error { return te.CSV(w, rounds) },
		func(w io.Writer) error { return te.HTML(w, title, spec.Demands, rounds, m.skip) })
	if err != nil {
		return err
	}
	return te.Table(m.stdout, rounds, m.skip)
}

func (s *teStudy) what() string {
	if s.matrices != "" {
		return "measured"
	}
	return s.demand
}

func (s *teStudy) spec(ctx context.Context, rounds int) (*te.Spec, error) {
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
		if len(spec.Rounds) < rounds {
			return nil, cli.Hinted(fmt.Errorf("%s: %d matrices for %d rounds", s.matrices, len(spec.Rounds), rounds),
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
