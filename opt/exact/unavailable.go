//go:build !(cgo && (linux || darwin) && (amd64 || arm64))

package exact

import (
	"context"

	"github.com/oxgang/oxgang/opt/lp"
	"github.com/oxgang/oxgang/opt/mmkp"
)

// Available reports whether this build includes HiGHS, so that New and Solve work.
const Available = false

// A Solver is an empty type in builds without HiGHS.
type Solver struct{}

var _ lp.Solver = (*Solver)(nil)

// New returns ErrUnavailable, because this build lacks HiGHS.
func New(Options) (*Solver, error) { return nil, ErrUnavailable }

// Solve returns ErrUnavailable.
func (*Solver) Solve(context.Context, *lp.Problem) (*lp.Solution, error) {
	return nil, ErrUnavailable
}

// Solve returns ErrUnavailable.
func Solve(context.Context, *mmkp.Problem) (*mmkp.Solution, error) { return nil, ErrUnavailable }
