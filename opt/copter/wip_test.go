package copter

import (
	"context"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"testing"

	"github.com/oxgang/oxgang/casestudy/rounds"
	"github.com/oxgang/oxgang/casestudy/te"
	"github.com/oxgang/oxgang/internal/testdata"
	"github.com/oxgang/oxgang/opt/lp"
)

func cpu() float64 {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return float64(u.Utime.Sec+u.Stime.Sec) + float64(u.Utime.Usec+u.Stime.Usec)/1e6
}

func env(name string, def int) int {
	if v, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return v
	}
	return def
}

func report(t *testing.T, p *lp.Problem, sol *lp.Solution) {
	x := 0
	for j, v := range sol.X {
		if v > 1e-6 && v < 1-1e-6 && p.HasCol(j) {
			x++
		}
	}
	t.Logf("%v objective %.8g bound %.8g gap %.2e primal %.2e dual %.2e iterations %d sweeps %d fractional %d", sol.Status, sol.Objective, sol.Bound, sol.Gap, sol.PrimalResidual, sol.DualResidual, sol.Iterations, sol.Sweeps, x)
}

func TestSia(t *testing.T) {
	g, err := rounds.New(rounds.NewSpec(env("GPUS", 2048)))
	if err != nil {
		t.Fatal(err)
	}
	f, _ := rounds.NewLinear(g)
	o := DefaultOptions()
	s, _ := New(o)
	s.trace = t.Logf
	for range env("ROUNDS", 3) {
		if err := f.Apply(g, g.Next()); err != nil {
			t.Fatal(err)
		}
		runtime.GC()
		before := cpu()
		sol, err := s.Solve(context.Background(), f.Problem)
		if err != nil {
			t.Fatal(err)
		}
		mid := cpu()
		lp.Grade(f.Problem, sol)
		t.Logf("%d cols: CPU %.3f, grade %.3f", f.Problem.Cols(), mid-before, cpu()-mid)
		report(t, f.Problem, sol)
		for _, id := range g.Jobs() {
			w := f.Weights(id, sol.X, nil)
			at := -1
			for c, v := range w {
				if v > 0.5 {
					at = c
				}
			}
			g.Hold(id, at)
		}
	}
}

func TestTE(t *testing.T) {
	name := os.Getenv("TOPO")
	if name == "" {
		name = "UsCarrier.json"
	}
	file, _ := os.Open(testdata.Path(t, "te/"+name))
	top, err := te.ReadTopology(name, file)
	if err != nil {
		t.Fatal(err)
	}
	tr := te.DefaultTraffic(te.Poisson, 1)
	demands, err := tr.Demands(top)
	if err != nil {
		t.Fatal(err)
	}
	paths := te.EdgeDisjoint(top, demands, 4)
	prog, err := te.Problem(top, demands, paths, 1)
	if err != nil {
		t.Fatal(err)
	}
	p := prog.LP
	t.Logf("%d demands %d paths %d nonzeros total %.6g", len(demands), paths.Len(), p.Nonzeros(), te.Total(demands))
	s, _ := New(DefaultOptions())
	s.trace = t.Logf
	for k := range env("ROUNDS", 3) {
		debug = k == 2 && env("DEBUG", 0) > 0
		runtime.GC()
		before := cpu()
		sol, err := s.Solve(context.Background(), p)
		if err != nil {
			t.Fatal(err)
		}
		mid := cpu()
		lp.Grade(p, sol)
		t.Logf("CPU %.3f, grade %.3f share %.6f", mid-before, cpu()-mid, -sol.Objective/te.Total(demands))
		report(t, p, sol)
		te.Perturb(demands, 0.1, 1, k)
		_, _ = prog.SetDemands(demands)
	}
}
