package tree

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/oxgang/oxgang/internal/testdata"
)

// direct matches a line of go.mod that requires a module for our own imports.
var direct = regexp.MustCompile(`(?m)^(?:require )?\s*(\S+\.\S+/\S+) v\S+$`)

// TestDependencies: every module we import has its row, with licence and
// reason, and no row outlives its module.
func TestDependencies(t *testing.T) {
	mod, err := os.ReadFile(filepath.Join(testdata.Root(t), "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	Check(t, "dependencies", requires(string(mod)))
}

func TestRequires(t *testing.T) {
	const mod = "module example.org/m\n\ngo 1.26\n\nrequire (\n\ta.org/x v1.0.0\n\tb.org/y v0.1.0 // indirect\n)\n\nrequire c.org/z/v2 v2.0.1\n"
	if got := requires(mod); len(got) != 2 || got[0] != "a.org/x" || got[1] != "c.org/z/v2" {
		t.Errorf("got %q, want a.org/x and c.org/z/v2", got)
	}
}

func requires(mod string) []string {
	var names []string
	for _, m := range direct.FindAllStringSubmatch(mod, -1) {
		names = append(names, m[1])
	}
	return names
}
