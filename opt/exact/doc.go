// Package exact solves linear and mixed-integer programs with HiGHS, the reference for the faster solvers.
//
// New makes an lp.Solver, which passes the complete lp.Problem to HiGHS each time and computes the solution's
// numbers itself. The function Solve solves the knapsacks of opt/mmkp.
//
// Certificates come from a second program: the least violation of the rows, whose duals are a Farkas ray, or the
// steepest direction that meets no bound or row.
//
// HiGHS is a static library in the Go module github.com/bartolsthoorn/gohighs. It needs cgo and a C++ linker, on
// Linux or macOS, amd64 or arm64. Elsewhere Available is false, and New and Solve return ErrUnavailable.
package exact

import "errors"

// ErrUnavailable reports a build without HiGHS.
var ErrUnavailable = errors.New("exact solver needs cgo: build with CGO_ENABLED=1 and a C compiler")
