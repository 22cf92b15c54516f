// Package exact solves linear and mixed-integer programs with HiGHS, a general
// solver: the reference that the faster solvers are measured against.
//
// New makes an lp.Solver: Solve rereads the whole lp.Problem each time, hands it
// to HiGHS, and grades the answer against the problem, so that what it reports
// (objective, bound, residuals) is computed here and not taken from HiGHS; the
// exception is the bound of an integer program, which is HiGHS' own. The
// function Solve does the same for the knapsacks of opt/mmkp.
//
// Certificates of infeasible and unbounded programs come from a second program
// each: that of the least violation of the rows, whose duals are a Farkas ray,
// and that of the steepest direction in which no bound or row is ever met.
//
// HiGHS comes as a static library inside the Go module
// github.com/bartolsthoorn/gohighs and needs cgo and a C++ linker, on Linux or
// macOS, amd64 or arm64. Elsewhere Available is false and New and Solve return
// ErrUnavailable.
package exact

import "errors"

// ErrUnavailable reports a build without HiGHS.
var ErrUnavailable = errors.New("exact solver needs cgo: build with CGO_ENABLED=1 and a C compiler")
