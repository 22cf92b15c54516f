package te

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/oxgang/oxgang/lab/casestudy"
	"github.com/oxgang/oxgang/opt/copter"
	"github.com/oxgang/oxgang/opt/exact"
	"github.com/oxgang/oxgang/opt/lp"
)

// Methods returns the names of the methods. Source: thesis §5.2.2, "Evaluated approaches".
func Methods() []string {
	return []string{"lp-all", "lp-all:ipm", "lp-all:pdlp", "lp-top", "lp-top:lp-first", "pop:K", "copter"}
}

const (
	tolerance = 1e-7 // of rows and costs of 1 or more
	pdlp      = 1e-4 // need not be exact
	topShare  = 0.1
	large     = 0.25
)

// NewMethod returns the method for traffic engineering called name, one of Methods. pop:K divides the demands into K
// parts, by seed, and measures the time of each part with clock, which may be nil. It returns an error for an unknown
// name, or exact.ErrUnavailable if the program was built without HiGHS.
func NewMethod(name string, seed uint64, clock casestudy.Clock) (Method, error) {
	kind, setting, with := strings.Cut(name, ":")
	var allocator Allocator
	var err error
	switch {
	case kind == "lp-all":
		allocator, err = newWhole(name, setting)
	case name == "lp-top", name == "lp-top:lp-first":
		var s lp.Solver
		s, err = solver(exact.InteriorPoint)
		allocator = &top{Solver: s, Share: topShare, LPFirst: with}
	case kind == "pop" && with:
		k, bad := strconv.Atoi(setting)
		if bad != nil || k < 1 {
			return Method{}, fmt.Errorf("method %q, want pop with a number of parts, as in pop:64", name)
		}
		var s lp.Solver
		s, err = solver(exact.InteriorPoint)
		allocator = &parts{Solver: s, K: k, Seed: seed, Large: large, Clock: clock}
	case name == "copter":
		var s *copter.Solver
		s, err = copter.New(copter.DefaultOptions())
		allocator = &whole{Solver: s}
	default:
		err = unknown(name)
	}
	if err != nil {
		return Method{}, err
	}
	return Method{name, allocator}, nil
}

func newWhole(name, how string) (Allocator, error) {
	method := exact.Choose
	switch how {
	case "":
	case "ipm":
		method = exact.InteriorPoint
	case "pdlp":
		method = exact.PDLP
	default:
		return nil, unknown(name)
	}
	s, err := solver(method)
	if err != nil {
		return nil, err
	}
	return &whole{Solver: s}, nil
}

func unknown(name string) error {
	return fmt.Errorf("method %q, want one of %s", name, strings.Join(Methods(), ", "))
}

func solver(m exact.Method) (lp.Solver, error) {
	o := exact.DefaultOptions()
	o.Method, o.Tolerance, o.NoCrossover = m, tolerance, m == exact.InteriorPoint
	if m == exact.PDLP {
		o.Tolerance = pdlp
	}
	return exact.New(o)
}

// A Program is the path form of maximum flow, updated as demands change:
//
//	maximise    Σⱼ Σ_p x_p                      (a)
//	subject to  Σ_{p of j} x_p ≤ d_j   for all j  (b)
//	            Σ_{p ∋ e} x_p ≤ c_e    for all e  (c)
//	            x_p ≥ 0                           (d)
//
// as a minimisation of -Σ x. Source: thesis §5.1.2, (a)-(d).
type program struct {
	LP      *lp.Problem
	Demand  []lp.Row // (b), by demand
	Link    []lp.Row // (c), by link
	Path    []lp.Col // x, by path
	volumes []float64
}

// newProgram builds the Program for demands and their paths. scale is the fraction of each link's capacity that may be
// used.
func newProgram(t *Topology, demands []Demand, paths *paths, scale float64) (*program, error) {
	g := &program{
		LP: &lp.Problem{}, Demand: make([]lp.Row, len(demands)), Link: make([]lp.Row, len(t.links)),
		Path: make([]lp.Col, paths.Len()), volumes: make([]float64, len(demands)),
	}
	var err error
	for e, l := range t.links {
		if g.Link[e], err = g.LP.AddRow(-lp.Inf, l.Capacity*scale); err != nil {
			return nil, fmt.Errorf("te: link %d: %w", e, err)
		}
	}
	var entries []lp.RowEntry
	for j, d := range demands {
		if g.Demand[j], err = g.LP.AddRow(-lp.Inf, d.volume); err != nil {
			return nil, fmt.Errorf("te: demand %d: %w", j, err)
		}
		g.volumes[j] = d.volume
		for p := paths.First[j]; p < paths.First[j+1]; p++ {
			entries = append(entries[:0], lp.RowEntry{Row: g.Demand[j], Value: 1})
			for _, e := range paths.Of(int(p)) {
				entries = append(entries, lp.RowEntry{Row: g.Link[e], Value: 1})
			}
			if g.Path[p], err = g.LP.AddCol(-1, 0, lp.Inf, entries...); err != nil {
				return nil, fmt.Errorf("te: path %d: %w", p, err)
			}
		}
	}
	return g, nil
}

// SetDemands sets new volumes for the demands of the program, and returns how many volumes changed.
func (g *program) SetDemands(demands []Demand) (changed int, err error) {
	for j, d := range demands {
		if d.volume == g.volumes[j] {
			continue
		}
		if err := g.LP.SetRHS(g.Demand[j], -lp.Inf, d.volume); err != nil {
			return changed, fmt.Errorf("te: demand %d: %w", j, err)
		}
		g.volumes[j] = d.volume
		changed++
	}
	return changed, nil
}

// Flow returns the flow on each path in x, a solution of LP.
func (g *program) Flow(x []float64) []float64 {
	flow := make([]float64, len(g.Path))
	for p, c := range g.Path {
		flow[p] = x[c.Index()]
	}
	return flow
}
