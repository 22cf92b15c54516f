package study

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/opt/copter"
	"github.com/oxgang/oxgang/opt/exact"
	"github.com/oxgang/oxgang/opt/lp"
	"github.com/oxgang/oxgang/opt/portfolio"
)

// LpCommand returns the command "oxgang lp".
func LpCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "lp", Short: "Solve linear programs from MPS files"}
	cli.Group(cmd)
	cmd.AddCommand(solveCommand())
	return cmd
}

// An lpSolver is a way to solve a file.
type lpSolver struct {
	name, doc string
	integers  bool // else it solves the relaxation
	fresh     func(s *lpSolve) (lp.Solver, error)
}

// lpSolvers are the solvers by name; the first is the default where HiGHS is
// built in, copter elsewhere.
var lpSolvers = []lpSolver{
	{"exact", "HiGHS, as it chooses; integer columns are integers", true, highs(exact.Choose)},
	{"simplex", "HiGHS' dual simplex", false, highs(exact.Simplex)},
	{"ipm", "HiGHS' interior point method, with crossover to a vertex", false, highs(exact.InteriorPoint)},
	{"pdlp", "HiGHS' first-order method", false, highs(exact.PDLP)},
	{"copter", "our proximal point method", false, proximal},
	{"auto", "copter, simplex on few columns at a time, simplex or ipm, by the program's shape", false, byShape},
}

func highs(m exact.Method) func(*lpSolve) (lp.Solver, error) {
	return func(s *lpSolve) (lp.Solver, error) {
		o := exact.DefaultOptions()
		o.Method, o.Tolerance, o.MaxIterations = m, s.tolerance, s.iterations
		return exact.New(o)
	}
}

func proximal(s *lpSolve) (lp.Solver, error) {
	o := copter.DefaultOptions()
	o.Primal, o.Gap = s.tolerance, s.tolerance
	if s.iterations > 0 {
		o.Passes = s.iterations
	}
	return copter.New(o)
}

func byShape(s *lpSolve) (lp.Solver, error) { return portfolio.New(s.tolerance) }

func lpSolverNames() []string {
	var names []string
	for _, s := range lpSolvers {
		names = append(names, s.name)
	}
	return names
}

// lpSolve is one call of oxgang lp solve.
type lpSolve struct {
	file, solver, solution string
	iterations             int
	memory                 int64 // MiB
	tolerance              float64
	json                   bool
}

func solveCommand() *cobra.Command {
	var s lpSolve
	long := &strings.Builder{}
	fmt.Fprint(long, "Solve the linear program of an MPS file, free or fixed, and print what was found\nand how far it is proven: the objective, a bound on it, and by how much rows, bounds\nand reduced costs are violated. - is standard input.\n\nSolvers:\n")
	for _, k := range lpSolvers {
		fmt.Fprintf(long, "  %-8s %s\n", k.name, k.doc)
	}
	fmt.Fprint(long, "All but exact let integer columns be fractional.")
	cmd := &cobra.Command{
		Use: "solve FILE", Short: "Solve the linear program of an MPS file", Long: long.String(),
		Example: "  oxgang lp solve model.mps --solution -\n  oxgang lp solve model.mps --solver copter --tolerance 1e-4 --json",
		Args:    cli.OneArg("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			s.file = args[0]
			return s.run(cmd.Context(), cmd.OutOrStdout())
		},
	}
	f := cmd.Flags()
	f.StringVar(&s.solver, "solver", "", "one of "+strings.Join(lpSolverNames(), ", ")+"; empty: exact if it is built in, else copter")
	cli.Complete(cmd, "solver", lpSolverNames())
	f.IntVar(&s.iterations, "max-iterations", 0, "most iterations of the solver; 0: its own limit")
	f.Float64Var(&s.tolerance, "tolerance", 1e-6, "tolerance of the solver on rows, bounds and gap")
	f.BoolVar(&s.json, "json", false, "print JSON")
	f.StringVar(&s.solution, "solution", "", "file for the columns by name, - for standard output")
	f.Int64Var(&s.memory, "memory-limit", 0, "MiB that the program may take; 0: a quarter of what the machine has free")
	return cmd
}

// choose returns the entry of the solver's name.
func (s *lpSolve) choose() (*lpSolver, error) {
	if s.solver == "" {
		s.solver = "exact"
		if !exact.Available {
			s.solver = "copter"
		}
	}
	for i := range lpSolvers {
		if lpSolvers[i].name == s.solver {
			return &lpSolvers[i], nil
		}
	}
	return nil, cli.Misused("--solver %q, want one of %s", s.solver, strings.Join(lpSolverNames(), ", "))
}

// check reports flags that cannot be.
func (s *lpSolve) check() error {
	var errs []error
	if s.iterations < 0 {
		errs = append(errs, fmt.Errorf("--max-iterations %d, want at least 0", s.iterations))
	}
	if s.memory < 0 {
		errs = append(errs, fmt.Errorf("--memory-limit %d, want at least 0", s.memory))
	}
	if s.json && s.solution == "-" {
		errs = append(errs, errors.New("--json and --solution - both write to standard output, want a file for one"))
	}
	if err := errors.Join(errs...); err != nil {
		return cli.Usage(err)
	}
	return nil
}

func (s *lpSolve) run(ctx context.Context, stdout io.Writer) error {
	kind, err := s.choose()
	if err == nil {
		err = s.check()
	}
	if err != nil {
		return err
	}
	solver, err := kind.fresh(s)
	switch {
	case errors.Is(err, exact.ErrUnavailable):
		return cli.Hinted(err, "--solver copter needs none")
	case err != nil:
		return cli.Usage(err)
	}
	m, err := s.read(ctx)
	if err != nil {
		return err
	}
	relaxed := m.Problem.Integers()
	if kind.integers {
		relaxed = 0
	} else {
		m.Problem.Relax()
	}
	out, err := solver.Solve(ctx, m.Problem)
	if err != nil {
		return fmt.Errorf("%s: %w", s.file, err)
	}
	if out.Y != nil {
		lp.Grade(m.Problem, out) // what is printed is computed here, whatever the solver says
	}
	if err := s.print(stdout, s.answer(m, out, relaxed), m, out); err != nil {
		return err
	}
	if out.Status == lp.Interrupted {
		return cli.ErrInterrupted
	}
	return nil
}

// read reads the file, as far as there is memory for it.
func (s *lpSolve) read(ctx context.Context) (*lp.Model, error) {
	f, err := cli.Open(ctx, s.file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	limit := s.memory << 20
	if limit == 0 {
		limit = cli.FreeMemory() / 4 // the solver takes two more copies
	}
	m, err := lp.ReadMPS(f, lp.MPSOptions{File: s.file, MemoryLimit: limit})
	if errors.Is(err, lp.ErrTooLarge) {
		return nil, cli.Hinted(err, "--memory-limit allows more than %d MiB", limit>>20)
	}
	return m, err
}

// An lpAnswer is what is printed; the names are those of the JSON.
type lpAnswer struct {
	Model          string   `json:"model,omitempty"`
	Solver         string   `json:"solver"`
	Method         string   `json:"method,omitempty"` // the one that a solver chose
	Status         string   `json:"status"`
	Objective      *float64 `json:"objective,omitempty"` // none without an optimum
	Bound          *float64 `json:"bound,omitempty"`     // none: proves nothing
	Gap            *float64 `json:"gap,omitempty"`
	PrimalResidual *float64 `json:"primal_residual,omitempty"`
	DualResidual   *float64 `json:"dual_residual,omitempty"`
	Iterations     int      `json:"iterations"`
	Rows           int      `json:"rows"`
	Columns        int      `json:"columns"`
	Coefficients   int      `json:"coefficients"`
	Relaxed        int      `json:"relaxed,omitempty"` // integer columns that were let be fractional
	Proof          []string `json:"proof,omitempty"`
}

func (s *lpSolve) answer(m *lp.Model, out *lp.Solution, relaxed int) *lpAnswer {
	p := m.Problem
	a := &lpAnswer{
		Model: m.Name, Solver: s.solver, Method: out.Method, Status: out.Status.String(), Iterations: out.Iterations,
		Rows: p.Rows(), Columns: p.Cols(), Coefficients: p.Nonzeros(), Relaxed: relaxed,
	}
	sign := 1.0
	if m.Maximize {
		sign = -1
	}
	switch out.Status {
	case lp.Infeasible:
		a.Proof = terms(out.Ray, m.RowName)
		return a
	case lp.Unbounded:
		a.Proof = terms(out.Ray, m.ColName)
		return a
	case lp.Optimal, lp.Limited, lp.Interrupted:
	}
	a.Objective, a.Bound, a.Gap = known(sign*out.Objective), known(sign*out.Bound), known(out.Gap)
	a.PrimalResidual = known(out.PrimalResidual)
	if out.Y != nil {
		a.DualResidual = known(out.DualResidual)
	}
	return a
}

// known returns a finite number, or nil.
func known(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	v += 0 // no -0
	return &v
}

// terms are the parts of a certificate that are not 0, by name.
func terms(ray []float64, name func(int) string) []string {
	var all []string
	for i, v := range ray {
		if v != 0 {
			all = append(all, fmt.Sprintf("%.6g %s", v, name(i)))
		}
	}
	return all
}

// print writes the answer and, if asked for, the columns.
func (s *lpSolve) print(stdout io.Writer, a *lpAnswer, m *lp.Model, out *lp.Solution) error {
	columns := func(w io.Writer) error { return writeColumns(w, m, out) }
	if s.solution != "" && s.solution != "-" {
		if err := cli.Whole(s.solution, columns); err != nil {
			return err
		}
	}
	if s.json {
		e := json.NewEncoder(stdout)
		e.SetIndent("", "  ")
		return e.Encode(a)
	}
	if _, err := io.WriteString(stdout, a.String()); err != nil {
		return err
	}
	if s.solution == "-" {
		fmt.Fprintln(stdout)
		return columns(stdout)
	}
	return nil
}

// writeColumns writes a line of name, tab and value for every column.
func writeColumns(w io.Writer, m *lp.Model, out *lp.Solution) error {
	b := bufio.NewWriter(w)
	for j, v := range out.X {
		if m.Problem.HasCol(j) {
			fmt.Fprintf(b, "%s\t%.12g\n", m.ColName(j), v+0)
		}
	}
	return b.Flush()
}

// mostTerms of a certificate are shown as text.
const mostTerms = 8

// String is the answer as lines of name and value.
func (a *lpAnswer) String() string {
	var b strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-12s%s\n", name, fmt.Sprintf(format, args...))
	}
	number := func(v *float64) string {
		if v == nil {
			return "none"
		}
		return fmt.Sprintf("%.10g", *v)
	}
	if a.Model != "" {
		line("model", "%s", a.Model)
	}
	line("size", "%d rows, %d columns, %d coefficients", a.Rows, a.Columns, a.Coefficients)
	line("solver", "%s", a.Solver)
	if a.Method != "" {
		line("method", "%s", a.Method)
	}
	if a.Relaxed > 0 {
		line("relaxed", "%d integer columns may be fractional", a.Relaxed)
	}
	line("status", "%s", a.Status)
	if a.Objective != nil {
		line("objective", "%s", number(a.Objective))
		line("bound", "%s", number(a.Bound))
		line("gap", "%s", small(a.Gap))
		line("residuals", "%s primal, %s dual", small(a.PrimalResidual), small(a.DualResidual))
	}
	if shown := a.Proof; len(shown) > 0 {
		more := ""
		if len(shown) > mostTerms {
			shown, more = shown[:mostTerms], fmt.Sprintf(", and %d more", len(shown)-mostTerms)
		}
		line("proof", "%s%s", strings.Join(shown, ", "), more)
	}
	line("iterations", "%d", a.Iterations)
	return b.String()
}

// small shows a number of which only the size matters.
func small(v *float64) string {
	if v == nil {
		return "none"
	}
	return fmt.Sprintf("%.2g", *v)
}
