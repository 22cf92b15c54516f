//go:build !(cgo && (linux || darwin) && (amd64 || arm64))

package exact

import (
	"context"

	"github.com/oxgang/oxgang/opt/mmkp"
)

// Available says whether Solve works in this build.
const Available = false

// Solve returns ErrUnavailable.
func Solve(context.Context, *mmkp.Problem) (*mmkp.Solution, error) { return nil, ErrUnavailable }
