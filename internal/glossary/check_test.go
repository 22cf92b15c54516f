package glossary

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strings"
)

// A definition is the place where something gets its name.
type definition struct {
	what   string // package, type, func, method or field
	name   string
	folder string // of the file, below the root of the checkout
	file   string
}

// definitions returns what a file defines, in its order; fields of anonymous structs included.
func definitions(f *ast.File, folder, file string) []definition {
	var all []definition
	add := func(what string, id *ast.Ident) { all = append(all, definition{what, id.Name, folder, file}) }
	fields := func(what string, l *ast.FieldList) {
		for _, field := range l.List {
			for _, id := range field.Names {
				add(what, id)
			}
		}
	}
	add("package", f.Name)
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			what := "func"
			if n.Recv != nil {
				what = "method"
			}
			add(what, n.Name)
		case *ast.TypeSpec:
			add("type", n.Name)
		case *ast.StructType:
			fields("field", n.Fields)
		case *ast.InterfaceType:
			fields("method", n.Methods)
		}
		return true
	})
	return all
}

// parts are the words that a name in mixed case is made of.
var parts = regexp.MustCompile(`[A-Z]+[a-z0-9]*|[a-z0-9]+`)

// metaphor returns the first word of a name that is in metaphors, if there is one.
func metaphor(name string) (word string, is bool) {
	for _, w := range append([]string{name}, parts.FindAllString(name, -1)...) {
		if w = strings.ToLower(w); slices.Contains(metaphors, w) {
			return w, true
		}
	}
	return "", false
}

// within reports whether a pattern names a folder: itself, or, if it ends in "/...", it or
// one below it, or anywhere.
func within(pattern, folder string) bool {
	below, all := strings.CutSuffix(pattern, "/...")
	return pattern == anywhere || folder == below || all && strings.HasPrefix(folder, below+"/")
}

// checkNames returns one error for each definition that is named by a metaphor and neither exempt
// nor pending, and the lines of exempt and of pending that no definition needs.
func checkNames(all []definition, exempt []exemption, pending []renaming) (unneeded []string, err error) {
	var errs []error
	used, awaited := make([]bool, len(exempt)), make([]bool, len(pending))
	for _, d := range all {
		word, is := metaphor(d.name)
		if !is {
			continue
		}
		i := slices.IndexFunc(exempt, func(e exemption) bool { return e.word == word && within(e.where, d.folder) })
		k := slices.IndexFunc(pending, func(r renaming) bool { return r.name == d.name && within(r.where, d.folder) })
		switch {
		case i >= 0:
			used[i] = true
		case k >= 0:
			awaited[k] = true
		default:
			errs = append(errs, fmt.Errorf("%s: %s %s: named by %q, want a word of the field: see docs/glossary.md", d.file, d.what, d.name, word))
		}
	}
	for i, e := range exempt {
		if !used[i] {
			unneeded = append(unneeded, fmt.Sprintf("exemption of %q in %s", e.word, e.where))
		}
	}
	for k, r := range pending {
		if !awaited[k] {
			unneeded = append(unneeded, fmt.Sprintf("pending %s in %s", r.name, r.where))
		}
	}
	return unneeded, errors.Join(errs...)
}

// A page is what docs/glossary.md says of packages.
type page struct {
	terms    []string // the first cell of each row, in lower case
	packages []string // what the last cell of each row has in backquotes: paths below the module
}

// quoted is what stands in backquotes.
var quoted = regexp.MustCompile("`([^`]+)`")

// read returns what the tables of a page say. It returns an error for a row that has not four
// cells, or an empty one, and for a term with two rows.
func read(text []byte) (page, error) {
	var p page
	for line := range bytes.Lines(text) {
		row := strings.TrimSpace(string(line))
		if !strings.HasPrefix(row, "|") || strings.HasPrefix(row, "| ---") || strings.HasPrefix(row, "| Term |") {
			continue
		}
		cells := strings.Split(strings.Trim(row, "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if len(cells) != 4 || slices.Contains(cells, "") {
			return p, fmt.Errorf("row %q: want a term, what it means, where the field uses it, and its package", row)
		}
		term := strings.ToLower(cells[0])
		if slices.Contains(p.terms, term) {
			return p, fmt.Errorf("row %q: second row of that term", cells[0])
		}
		p.terms = append(p.terms, term)
		for _, m := range quoted.FindAllStringSubmatch(cells[3], -1) {
			p.packages = append(p.packages, m[1])
		}
	}
	return p, nil
}

// checkPackages returns one error for each package, by its path below the module, that is on no
// row of the page, neither by its path nor as a term, and the paths of the page where no package is.
func checkPackages(p page, packages []string) (gone []string, err error) {
	var errs []error
	for _, name := range packages {
		if !slices.Contains(p.packages, name) && !slices.Contains(p.terms, path.Base(name)) {
			errs = append(errs, fmt.Errorf("package %s: not in docs/glossary.md, want a row: | %s | … | … | `%s` |", name, path.Base(name), name))
		}
	}
	for _, name := range p.packages {
		if !slices.Contains(packages, name) {
			gone = append(gone, fmt.Sprintf("docs/glossary.md: `%s`: no such package", name))
		}
	}
	return gone, errors.Join(errs...)
}
