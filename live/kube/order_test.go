package kube

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Each package of this folder stands in the list of doc.go, and imports only packages above it.
func TestOrder(t *testing.T) {
	text, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	var order []string
	for _, m := range regexp.MustCompile(`(?m)^//   - ([\w/]+): `).FindAllStringSubmatch(string(text), -1) {
		order = append(order, m[1])
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, pattern := range []string{"*/*.go", "api/*/*.go"} {
		more, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, more...)
	}
	for _, name := range files {
		dir := filepath.ToSlash(filepath.Dir(name))
		if strings.HasSuffix(name, "_test.go") || dir == "rig" {
			continue
		}
		if dir == "." {
			dir = "kube"
		}
		at := slices.Index(order, dir)
		if at < 0 {
			t.Errorf("%s: package %s is not in the list of doc.go", name, dir)
			continue
		}
		for _, path := range imports(t, name) {
			if i := slices.Index(order, path); i < 0 || i >= at {
				t.Errorf("%s imports %s, which is not above %s in the list of doc.go", name, path, dir)
			}
		}
	}
}

// imports returns the packages of this folder that a file imports.
func imports(t *testing.T, file string) (all []string) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range f.Imports {
		path, err := strconv.Unquote(s.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		if rest, is := strings.CutPrefix(path, "github.com/oxgang/oxgang/live/kube"); is {
			all = append(all, strings.TrimPrefix(rest, "/"))
			if rest == "" {
				all[len(all)-1] = "kube"
			}
		}
	}
	return all
}
