package seeded

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A compiled package, as go list shows it.
type compiled struct {
	ImportPath, Export, Dir string
	GoFiles                 []string
}

// A checker type-checks the packages that patches change, against what the go command has compiled of
// their imports. The compiler finds no more in them, and takes three seconds a time.
type checker struct {
	byDir   map[string]compiled // packages of live/kube and of what it imports
	fset    *token.FileSet
	imports types.Importer
}

// newChecker has the go command compile live/kube as it is, which is mostly in its cache.
func newChecker(t *testing.T) *checker {
	t.Helper()
	if testing.Short() {
		t.Skip("starts processes")
	}
	cmd := exec.CommandContext(t.Context(), "go", "list", "-export", "-deps", "-json=ImportPath,Export,Dir,GoFiles", "./live/kube/...")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	c, exports := &checker{byDir: map[string]compiled{}, fset: token.NewFileSet()}, map[string]string{}
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p compiled
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("go list: %v", err)
		}
		c.byDir[p.Dir], exports[p.ImportPath] = p, p.Export
	}
	c.imports = importer.ForCompiler(c.fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	return c
}

// with checks the packages that some defects change.
func (c *checker) with(to string, names ...string) error {
	overlay, err := Overlay(root, to, names...)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(overlay)
	if err != nil {
		return err
	}
	var o struct{ Replace map[string]string }
	if err := json.Unmarshal(text, &o); err != nil {
		return err
	}
	dirs := map[string]bool{}
	for file := range o.Replace {
		dirs[filepath.Dir(file)] = true
	}
	for dir := range dirs {
		if err := c.check(dir, o.Replace); err != nil {
			return err
		}
	}
	return nil
}

// check type-checks the package of a folder, with other files in place of some.
func (c *checker) check(dir string, instead map[string]string) error {
	p, is := c.byDir[dir]
	if !is {
		return fmt.Errorf("%s: no package there that the scheduler for Kubernetes is made of", dir)
	}
	var files []*ast.File
	for _, name := range p.GoFiles {
		path := filepath.Join(dir, name)
		if other, is := instead[path]; is {
			path = other
		}
		f, err := parser.ParseFile(c.fset, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		files = append(files, f)
	}
	_, err := (&types.Config{Importer: c.imports}).Check(p.ImportPath, c.fset, files, nil)
	return err
}

// The checker sees what a compiler would: a name that is not there, and one that is not used.
func TestChecker(t *testing.T) {
	c := newChecker(t)
	dir, err := filepath.Abs(filepath.Join(root, "live", "kube"))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.check(dir, nil); err != nil {
		t.Fatalf("as it is: %v", err)
	}
	file := filepath.Join(dir, c.byDir[dir].GoFiles[0])
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, wrong := range []string{"var _ = noSuchName", "func unusedVariable() { x := 1 }"} {
		other := filepath.Join(t.TempDir(), "other.go")
		if err := os.WriteFile(other, append(text, wrong...), 0o600); err != nil {
			t.Fatal(err)
		}
		if c.check(dir, map[string]string{file: other}) == nil {
			t.Errorf("%q was taken for right", wrong)
		}
	}
}
