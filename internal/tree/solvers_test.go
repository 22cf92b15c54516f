package tree

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/oxgang/oxgang/internal/testdata"
)

// Every package of opt, test helpers apart, is on the page of solvers, and none that is not
// there.
func TestSolverPackages(t *testing.T) {
	root := testdata.Root(t)
	text, err := os.ReadFile(filepath.Join(root, "docs", "solvers.md"))
	if err != nil {
		t.Fatal(err)
	}
	named, there := optPackages(string(text)), packagesBelow(t, root, "opt")
	if len(there) < 10 {
		t.Fatalf("found packages %v, want those of opt", there)
	}
	for _, p := range there {
		if p != "opt/lp/lptest" && !slices.Contains(named, p) {
			t.Errorf("docs/solvers.md: %s is not on the page", p)
		}
	}
	for _, p := range named {
		if !slices.Contains(there, p) {
			t.Errorf("docs/solvers.md: %s is no package", p)
		}
	}
}

var optPackage = regexp.MustCompile(`\bopt(/[a-z]+)+`)

func optPackages(page string) []string {
	all := optPackage.FindAllString(page, -1)
	slices.Sort(all)
	return slices.Compact(all)
}

func packagesBelow(t *testing.T, root, folder string) []string {
	t.Helper()
	var all []string
	err := fs.WalkDir(os.DirFS(root), folder, func(name string, d fs.DirEntry, err error) error {
		if err == nil && path.Ext(name) == ".go" && !isTest(name) && !slices.Contains(all, path.Dir(name)) {
			all = append(all, path.Dir(name))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func isTest(name string) bool {
	ok, _ := path.Match("*_test.go", path.Base(name))
	return ok
}

func TestOptPackages(t *testing.T) {
	got := optPackages("[opt/lp](../opt/lp) and `go doc ./opt/lp/lptest`, opt/lp; adopt/x, opt")
	if want := []string{"opt/lp", "opt/lp/lptest"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
