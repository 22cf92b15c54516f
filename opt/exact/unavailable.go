//go:build !(cgo && (linux || darwin) && (amd64 || arm64))

package exact

import (
	"context"

	"github.com/oxgang/oxgang/opt/lp"
	"github.com/oxgang/oxgang/opt/mmkp"
)

// Available reports whether New and Solve work.
const Available = false

// A Solver solves nothing in this build.
type Solver struct{}

var _ lp.Solver = (*Solver)(nil)

// New returns ErrUnavailable.
func New(Options) (*Solver, error) { return nil, ErrUnavailable }

// Solve returns ErrUnavailable.
func (*Solver) Solve(context.Context, *lp.Problem) (*lp.Solution, error) {
	return nil, ErrUnavailable
}

// Solve returns ErrUnavailable.
func Solve(context.Context, *mmkp.Problem) (*mmkp.Solution, error) { return nil, ErrUnavailable }
