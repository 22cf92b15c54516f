package study

import (
	"testing"

	"github.com/oxgang/oxgang/internal/doctable"
)

// What oxgang lp solve --solver takes is on the page of solvers.
func TestLPSolverDocs(t *testing.T) { doctable.Check(t, "solvers#Linear programs", lpSolverNames()) }
