package tree

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/oxgang/oxgang/internal/testdata"
)

// TestBackends: the backends are the packages that pass the conformance suite, and each has
// a row. A program makes the one it needs: there is no table of them in the code.
func TestBackends(t *testing.T) {
	folders := conforming(t, os.DirFS(testdata.Root(t)))
	if len(folders) == 0 {
		t.Fatal("no package calls schedulertest.Run")
	}
	checkFolders(t, "backends", folders)
}

var suite = regexp.MustCompile(`\bschedulertest\.Run(Repeatable)?\(`)

// conforming returns the folders whose tests run the conformance suite of backends.
func conforming(t *testing.T, tree fs.FS) []string {
	t.Helper()
	var all []string
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && name != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "test" || d.Name() == "tree") {
			return fs.SkipDir // test is a module of its own
		}
		if !isTest(name) || slices.Contains(all, path.Dir(name)) {
			return nil
		}
		text, err := fs.ReadFile(tree, name)
		if suite.Match(text) {
			all = append(all, path.Dir(name))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
