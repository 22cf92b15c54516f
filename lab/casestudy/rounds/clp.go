package rounds

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/oxgang/oxgang/opt/lp"
)

// ErrNoCLP reports that the program clp is not installed.
var ErrNoCLP = errors.New("clp is not installed (Debian: coinor-clp)")

// clp solves linear programs with COIN-OR's CLP, another process: a peer to
// measure against. The time it reports is that of its solve, presolve with it;
// writing and reading files is not in it.
type clp struct {
	path string
	took time.Duration // of the last solve
}

func newCLP() (lp.Solver, error) {
	path, err := exec.LookPath("clp")
	if err != nil {
		return nil, ErrNoCLP
	}
	return &clp{path: path}, nil
}

// clpTime matches the end of its log: "Optimal objective -2.75 - 0 iterations
// time 0.002, Presolve 0.00".
var clpTime = regexp.MustCompile(`- (\d+) iterations time ([\d.]+)`)

// Solve implements lp.Solver. It has no duals, and so no bound.
func (c *clp) Solve(ctx context.Context, p *lp.Problem) (s *lp.Solution, err error) {
	dir, err := os.MkdirTemp("", "oxgang-clp-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	in, out := filepath.Join(dir, "p.mps"), filepath.Join(dir, "p.sol")
	if err := writeModel(in, p); err != nil {
		return nil, err
	}
	log, err := exec.CommandContext(ctx, c.path, in, "-dualsimplex", "-solution", out).CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("clp: %w: %s", err, bytes.TrimSpace(log))
	}
	found := clpTime.FindSubmatch(log)
	if found == nil || !bytes.Contains(log, []byte("\nOptimal objective")) {
		return nil, fmt.Errorf("clp found no optimum: %s", bytes.TrimSpace(log))
	}
	seconds, err := strconv.ParseFloat(string(found[2]), 64)
	if err != nil {
		return nil, fmt.Errorf("clp: time: %w", err)
	}
	c.took = max(1, time.Duration(seconds*float64(time.Second)))
	s = &lp.Solution{X: make([]float64, p.ColSlots())}
	if s.Iterations, err = strconv.Atoi(string(found[1])); err != nil {
		return nil, fmt.Errorf("clp: iterations: %w", err)
	}
	file, err := os.Open(out)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if err := readCLP(file, s.X); err != nil {
		return nil, err
	}
	s.Objective, s.PrimalResidual, s.Bound = lp.Objective(p, s.X), lp.PrimalResidual(p, s.X), -infinite
	return s, nil
}

func writeModel(name string, p *lp.Problem) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(lp.WriteMPS(f, &lp.Model{Name: "round", Problem: p}), f.Close())
}

// readCLP reads a solution: a line on its status, then index, name, value and
// reduced cost of columns; "**" before one that violates a bound.
func readCLP(r io.Reader, x []float64) error {
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		words := strings.Fields(strings.TrimPrefix(strings.TrimSpace(lines.Text()), "**"))
		if n == 1 || len(words) < 3 || !strings.HasPrefix(words[1], "c") {
			continue
		}
		j, err := strconv.Atoi(words[1][1:])
		if err != nil || j < 0 || j >= len(x) {
			return fmt.Errorf("clp: solution, line %d: column %q, want one of %d", n, words[1], len(x))
		}
		if x[j], err = strconv.ParseFloat(words[2], 64); err != nil {
			return fmt.Errorf("clp: solution, line %d: %w", n, err)
		}
	}
	return lines.Err()
}
