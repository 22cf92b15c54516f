package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/lab/casestudy/shards"
)

// A solverStudy is a case study of solvers, with the flags of the command that have a meaning for it.
type solverStudy interface {
	flags(f *pflag.FlagSet)
	run(ctx context.Context, m *measuring) error
	methods() (defaults, all []string)
}

func solverStudies() map[string]solverStudy {
	return map[string]solverStudy{"rounds": new(roundsStudy), "shards": newShardsStudy(), "te": newTEStudy()}
}

var solverCases = []string{"rounds", "shards", "te"}

type measuring struct {
	names          []string // methods
	load           string   // "": the case's default
	rounds, skip   int
	seed           uint64
	csv, html      string
	quiet          bool
	stdout, stderr io.Writer
}

func solversCommand() *cobra.Command {
	m := &measuring{}
	studies := solverStudies()
	cmd := &cobra.Command{
		Use:   "solvers {" + strings.Join(solverCases, "|") + "}",
		Short: "Compare solvers on many rounds of a large problem that changes little",
		Long: `Compare solvers on many rounds of a large problem that changes little from round to round. The
table has means over the rounds after the start, with CPU times. The cases:

rounds  the scheduler's own program at the scale of a large cluster. Methods: price, price-cold,
        copter, copter-cold, copter-rebuilt, simplex, ipm, mip, pop:K.
shards  replicas of database shards on servers; every method continues from its own placement.
        Methods: heuristic, exact, lp-relaxed, pop:K, copter.
te      flow over the links of a wide-area network as demands change; without --topology, a small
        network is generated. Methods: lp-all (also lp-all:ipm, lp-all:pdlp), lp-top (also
        lp-top:lp-first), pop:K, copter.`,
		Example: `  oxgang lab solvers rounds --gpus 2048 --methods price,simplex,pop:4
  oxgang lab solvers shards --shards 1024 --servers 128 --methods lp-relaxed,copter --html shards.html
  oxgang lab solvers te --topology Kdl.json --methods lp-top,pop:64,copter`,
		Args:      cli.OneArg("CASE"),
		ValidArgs: solverCases,
		RunE: func(cmd *cobra.Command, args []string) error {
			m.stdout, m.stderr = cmd.OutOrStdout(), cmd.ErrOrStderr()
			return m.run(cmd, args[0], studies)
		},
	}
	f := cmd.Flags()
	for _, name := range solverCases {
		studies[name].flags(f)
	}
	f.StringSliceVar(&m.names, "methods", nil, "methods, comma-separated; default: a few of the case")
	completeMethods(cmd, studies)
	cli.Complete(cmd, "demand", demandNames())
	f.StringVar(&m.load, "load", "", "te: sum of demand times hops over the sum of capacities (default 0.8); shards: stateless (another Zipf exponent every round, the default) or stateful (up or down by a tenth)")
	cli.Complete(cmd, "load", []string{string(shards.Stateless), string(shards.Stateful)})
	f.IntVar(&m.rounds, "rounds", 0, "rounds to measure; 0: 20, or 100 of shards")
	f.IntVar(&m.skip, "skip", -1, "te, shards: first rounds to exclude from the table; -1: a quarter, or a fifth of shards")
	f.Uint64Var(&m.seed, "seed", 1, "random seed")
	f.StringVar(&m.csv, "csv", "", "CSV file to write, with a row for each round")
	f.StringVar(&m.html, "html", "", "HTML page with plots to write")
	f.BoolVarP(&m.quiet, "quiet", "q", false, "no progress")
	return cmd
}

func completeMethods(cmd *cobra.Command, studies map[string]solverStudy) {
	cli.CompleteLater(cmd, "methods", func() (all []string) {
		if s, known := studies[cmd.Flags().Arg(0)]; known {
			_, all = s.methods()
		}
		return all
	}, true)
}

func (m *measuring) run(cmd *cobra.Command, name string, studies map[string]solverStudy) error {
	s, known := studies[name]
	if !known {
		return cli.Misused("case %q, want one of %s", name, strings.Join(solverCases, ", "))
	}
	if err := m.foreign(cmd, name); err != nil {
		return err
	}
	if len(m.names) == 0 && !cmd.Flags().Changed("methods") {
		m.names, _ = s.methods()
	}
	return s.run(cmd.Context(), m)
}

// foreign returns an error for the first flag that only other cases have: the usage of a flag of one case starts
// with its name.
func (m *measuring) foreign(cmd *cobra.Command, name string) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		cases, _, ok := strings.Cut(f.Usage, ": ")
		of := strings.Split(cases, ", ")
		if ok && err == nil && !slices.Contains(of, name) && slices.Contains(solverCases, of[0]) && f.Name != "load" {
			err = cli.Misused("--%s belongs to %s, not to %s", f.Name, cases, name)
		}
	})
	if err == nil && m.load != "" && name == "rounds" {
		err = cli.Misused("--load belongs to te, shards, not to %s", name)
	}
	return err
}

func (m *measuring) checkRounds(rounds, part int) error {
	var errs []error
	if m.rounds == 0 {
		m.rounds = rounds
	}
	if m.rounds < 1 || m.rounds > 1_000_000 {
		errs = append(errs, fmt.Errorf("rounds %d, want 1 to 1000000", m.rounds))
	}
	if m.skip < 0 {
		m.skip = m.rounds / part
	}
	if m.skip >= max(1, m.rounds) {
		errs = append(errs, fmt.Errorf("skip %d of %d rounds, want fewer", m.skip, m.rounds))
	}
	if len(m.names) == 0 {
		errs = append(errs, errors.New("no methods, want at least one"))
	}
	return errors.Join(errs...)
}

func (m *measuring) write(csv, html func(io.Writer) error) error {
	for _, f := range []struct {
		name  string
		write func(io.Writer) error
	}{{m.csv, csv}, {m.html, html}} {
		if f.name == "" {
			continue
		}
		if err := cli.Whole(f.name, f.write); err != nil {
			return err
		}
	}
	return nil
}

func (m *measuring) note(format string, args ...any) {
	if !m.quiet {
		fmt.Fprintf(m.stderr, format, args...)
	}
}
