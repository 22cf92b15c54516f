package tree

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// filesWith returns the Go files, tests included, of each package below the root of the checkout
// that is built with cgo or without; what stands on Kubernetes, too.
func filesWith(t *testing.T, cgo string) map[string][]string {
	t.Helper()
	if testing.Short() {
		t.Skip("starts processes")
	}
	cmd := exec.CommandContext(t.Context(), "go", "list", "-e", "-json=ImportPath,Dir,GoFiles,CgoFiles,TestGoFiles,XTestGoFiles", module+"/...")
	cmd.Env = append(os.Environ(), "CGO_ENABLED="+cgo)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	all := map[string][]string{}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			ImportPath, Dir                              string
			GoFiles, CgoFiles, TestGoFiles, XTestGoFiles []string
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatalf("go list: %v", err)
		}
		for _, f := range slices.Concat(p.GoFiles, p.CgoFiles, p.TestGoFiles, p.XTestGoFiles) {
			all[local(p.ImportPath)] = append(all[local(p.ImportPath)], filepath.Join(p.Dir, f))
		}
	}
}

// TestCgo: only opt/exact has other files without cgo, and these export the same, so that what
// builds with cgo builds without if opt/exact does: "make lint" vets that and what asks it.
func TestCgo(t *testing.T) {
	with, without := filesWith(t, "1"), filesWith(t, "0")
	for name := range with {
		if name != "opt/exact" && !slices.Equal(with[name], without[name]) {
			t.Errorf("%s: other files without cgo, want that of opt/exact alone, or a name in make lint", name)
		}
	}
	a, b := exports(t, with["opt/exact"]), exports(t, without["opt/exact"])
	if len(a) < 3 || !slices.Equal(a, b) {
		t.Errorf("opt/exact exports with cgo %q, without %q", a, b)
	}
}

// exports returns what files export, tests apart: functions and methods with their types, and the
// names of others.
func exports(t *testing.T, files []string) []string {
	t.Helper()
	var all []string
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, exported(t, fset, f)...)
	}
	slices.Sort(all)
	return all
}

func exported(t *testing.T, fset *token.FileSet, f *ast.File) []string {
	t.Helper()
	var all []string
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if !d.Name.IsExported() {
				continue
			}
			var b strings.Builder
			if err := printer.Fprint(&b, fset, &ast.FuncDecl{Recv: withoutNames(d.Recv), Name: d.Name, Type: unnamed(d.Type)}); err != nil {
				t.Fatal(err)
			}
			all = append(all, b.String())
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					if s.Name.IsExported() {
						all = append(all, "type "+s.Name.Name)
					}
				case *ast.ValueSpec:
					for _, id := range s.Names {
						if id.IsExported() {
							all = append(all, d.Tok.String()+" "+id.Name)
						}
					}
				}
			}
		}
	}
	return all
}

func unnamed(f *ast.FuncType) *ast.FuncType {
	return &ast.FuncType{Params: withoutNames(f.Params), Results: withoutNames(f.Results)}
}

func withoutNames(l *ast.FieldList) *ast.FieldList {
	if l == nil {
		return nil
	}
	out := &ast.FieldList{}
	for _, field := range l.List {
		for range max(1, len(field.Names)) {
			out.List = append(out.List, &ast.Field{Type: field.Type})
		}
	}
	return out
}

// What is exported differently is seen, and what is only named or written differently is not.
func TestExports_sees(t *testing.T) {
	of := func(source string) []string {
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, "x.go", "package x\n"+source, 0)
		if err != nil {
			t.Fatal(err)
		}
		return exported(t, fset, f)
	}
	const as = "const A = true\ntype T struct{ a int }\nfunc F(a, b int) error { return nil }\nfunc (t *T) M() {}\n"
	for other, same := range map[string]bool{
		"const A = false\ntype T struct{}\nfunc F(_ int, _ int) error { panic(0) }\nfunc (*T) M() { g() }\nfunc g() {}\n": true,
		strings.Replace(as, "const", "var", 1):             false,
		strings.Replace(as, "b int", "b float64", 1):       false,
		strings.Replace(as, "func (t *T) M() {}\n", "", 1): false,
		strings.Replace(as, "(t *T)", "(t T)", 1):          false,
		strings.Replace(as, "error", "(int, error)", 1):    false,
	} {
		if slices.Equal(of(as), of(other)) != same {
			t.Errorf("%s: got %q, and of the first %q, want them equal: %v", other, of(other), of(as), same)
		}
	}
}
