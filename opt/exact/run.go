//go:build cgo && (linux || darwin) && (amd64 || arm64)

package exact

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/bartolsthoorn/gohighs/highs"
)

type result struct {
	status     highs.ModelStatus
	x, y       []float64
	hasX, hasY bool
	bound      float64 // of an integer program
	iterations int
	nodes      int
}

// run solves on a new thread, because HiGHS keeps its pool of workers per thread.
func (m *program) run(o Options) (*result, error) {
	var r *result
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // the thread ends
		r, err = m.runHere(o)
	}()
	<-done
	return r, err
}

func (m *program) runHere(o Options) (*result, error) {
	s, err := highs.NewSolver()
	if err != nil {
		return nil, err
	}
	defer s.Close()
	if err := set(s, o, m.integer != nil); err != nil {
		return nil, err
	}
	var kinds []highs.VariableType
	for _, integer := range m.integer {
		kind := highs.Continuous
		if integer {
			kind = highs.Integer
		}
		kinds = append(kinds, kind)
	}
	err = s.PassModel(len(m.cost), len(m.rowLow), m.cost, m.low, m.up, m.rowLow, m.rowUp,
		m.start, m.index, m.value, kinds, m.maximize, m.offset)
	if err != nil {
		return nil, err
	}
	out, err := s.Run()
	if err != nil {
		return nil, err
	}
	return m.read(s, out)
}

func set(s *highs.Solver, o Options, integer bool) error {
	settings := []error{
		s.SetBoolOption("output_flag", false),
		s.SetIntOption("threads", o.Threads),
		s.SetStringOption("solver", string(o.Method)),
		s.SetFloatOption("primal_feasibility_tolerance", o.Tolerance),
		s.SetFloatOption("dual_feasibility_tolerance", o.Tolerance),
		s.SetFloatOption("ipm_optimality_tolerance", max(o.Tolerance, 1e-12)),
		s.SetFloatOption("pdlp_optimality_tolerance", o.Tolerance),
		s.SetFloatOption("small_matrix_value", 1e-12), // smaller ones are dropped
	}
	if o.NoPresolve {
		settings = append(settings, s.SetStringOption("presolve", "off"))
	}
	if o.NoCrossover {
		settings = append(settings, s.SetStringOption("run_crossover", "off"))
	}
	if o.MaxIterations > 0 {
		for _, name := range []string{"simplex_iteration_limit", "ipm_iteration_limit", "pdlp_iteration_limit"} {
			settings = append(settings, s.SetIntOption(name, o.MaxIterations))
		}
	}
	if integer {
		settings = append(settings, setInteger(s, o)...)
	}
	return errors.Join(settings...)
}

// setInteger sets integer options. Feasibility jump is off: it takes most of the time of a small program.
func setInteger(s *highs.Solver, o Options) []error {
	return []error{
		s.SetStringOption("solver", string(Choose)),
		s.SetFloatOption("mip_rel_gap", o.MIPGap),
		s.SetFloatOption("mip_abs_gap", 0),
		s.SetFloatOption("mip_feasibility_tolerance", o.Tolerance),
		s.SetBoolOption("mip_heuristic_run_feasibility_jump", false),
	}
}

const noSolution = 0

func (m *program) read(s *highs.Solver, out *highs.Solution) (*result, error) {
	r := &result{status: out.Status, x: out.ColValues, y: out.RowDuals}
	primal, err := s.GetIntInfo("primal_solution_status")
	if err != nil {
		return nil, err
	}
	dual, err := s.GetIntInfo("dual_solution_status")
	if err != nil {
		return nil, err
	}
	r.hasX, r.hasY = primal != noSolution, dual != noSolution
	for _, name := range []string{"simplex_iteration_count", "ipm_iteration_count", "crossover_iteration_count", "pdlp_iteration_count"} {
		n, err := s.GetIntInfo(name)
		if err != nil {
			return nil, err
		}
		r.iterations += max(n, 0)
	}
	if m.integer == nil {
		return r, nil
	}
	nodes, err := s.GetInt64Info("mip_node_count")
	if err != nil {
		return nil, err
	}
	if r.bound, err = s.GetFloatInfo("mip_dual_bound"); err != nil {
		return nil, fmt.Errorf("bound: %w", err)
	}
	r.nodes = int(max(nodes, 0))
	return r, nil
}
