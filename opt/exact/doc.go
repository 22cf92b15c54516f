// Package exact solves the same knapsacks as opt/mmkp with HiGHS, a general
// mixed-integer solver: the reference the faster solvers are measured against.
//
// HiGHS comes as a static library inside the Go module
// github.com/bartolsthoorn/gohighs and needs cgo and a C++ linker, on Linux or
// macOS, amd64 or arm64. Elsewhere Available is false and Solve returns
// ErrUnavailable.
package exact

import "errors"

// ErrUnavailable reports a build without HiGHS.
var ErrUnavailable = errors.New("exact solver needs cgo: build with CGO_ENABLED=1 and a C compiler")
