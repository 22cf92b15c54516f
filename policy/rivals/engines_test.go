package rivals_test

import (
	"strings"
	"testing"

	"github.com/oxgang/oxgang/internal/tree"
	"github.com/oxgang/oxgang/opt/engine"
	"github.com/oxgang/oxgang/policy/registry"
	_ "github.com/oxgang/oxgang/policy/rivals" // all policies
)

// What solver=NAME takes is on the page of solvers.
func TestSolverDocs(t *testing.T) {
	names := append(engine.Names(), "pop:K")
	tree.Check(t, "solvers", names)
	for _, name := range names {
		name = strings.Replace(name, "K", "2:price", 1) // no part needs a solver that the build may lack
		if engine.Check(name) != nil && !strings.HasPrefix(name, "pop:") {
			continue // without cgo
		}
		if _, err := registry.New("sia", map[string]string{"solver": name}); err != nil {
			t.Errorf("solver %s: %v", name, err)
		}
	}
}
