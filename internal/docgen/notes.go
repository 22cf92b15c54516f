package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"regexp"
	"strings"
)

type note struct {
	deviation bool
	text      string // after the colon, without the final full stop
	symbol    string // "perf.Params.Step", or the package
	file      string // slash-separated
}

// collect skips hidden directories, testdata and nested modules.
func collect(tree fs.FS) ([]note, error) {
	var notes []note
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return enter(tree, name)
		case path.Ext(name) != ".go":
			return nil
		}
		src, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		found, err := fileNotes(name, src)
		notes = append(notes, found...)
		return err
	})
	return notes, err
}

func enter(tree fs.FS, name string) error {
	base := path.Base(name)
	if name == "." {
		return nil
	}
	if strings.HasPrefix(base, ".") || base == "testdata" && name != "internal/testdata" {
		return fs.SkipDir
	}
	if _, err := fs.Stat(tree, path.Join(name, "go.mod")); err == nil {
		return fs.SkipDir
	}
	return nil
}

func fileNotes(name string, src []byte) ([]note, error) {
	file, err := parser.ParseFile(token.NewFileSet(), name, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var notes []note
	var errs []error
	for _, group := range file.Comments {
		for _, n := range textNotes(group.Text()) {
			n.file, n.symbol = name, path.Dir(name)
			if s := enclosing(file, group); s != "" {
				n.symbol += "." + s
			}
			if n.deviation && !strings.Contains(n.text, "because") {
				errs = append(errs, fmt.Errorf("%s: deviation of %s: got %q, want \"…, because …\"", name, n.symbol, n.text))
			}
			notes = append(notes, n)
		}
	}
	return notes, errors.Join(errs...)
}

var (
	marker    = regexp.MustCompile(`\b(Sources?|Deviation):\s`)
	paragraph = regexp.MustCompile(`\n\s*\n|\n\s*[-*•] |\n\s*\d+\. `) // blank line or list item
	ending    = regexp.MustCompile(`(\w+)\.\s+[A-Z]`)
)

// short are abbreviations whose full stop does not end a sentence.
var short = map[string]bool{"App": true, "Appendix": true, "Alg": true, "Eq": true, "Eqs": true, "Fig": true, "Sec": true, "Ch": true, "Thm": true}

// textNotes splits a comment into notes. A Source ends with its sentence and is split at semicolons. A Deviation
// ends with its paragraph or list item.
func textNotes(text string) []note {
	var notes []note
	for _, par := range paragraph.Split(text, -1) {
		at := marker.FindAllStringSubmatchIndex(par, -1)
		for i, m := range at {
			end := len(par)
			if i+1 < len(at) {
				end = at[i+1][0]
			}
			body := strings.Join(strings.Fields(par[m[1]:end]), " ")
			if par[m[2]:m[3]] == "Deviation" {
				notes = append(notes, note{deviation: true, text: strings.TrimSuffix(body, ".")})
				continue
			}
			for part := range strings.SplitSeq(firstSentence(body), ";") {
				notes = append(notes, note{text: strings.TrimSpace(part)})
			}
		}
	}
	return notes
}

func firstSentence(text string) string {
	for _, m := range ending.FindAllStringSubmatchIndex(text, -1) {
		if !short[text[m[2]:m[3]]] {
			return text[:m[3]]
		}
	}
	return strings.TrimSuffix(text, ".")
}

func enclosing(file *ast.File, group *ast.CommentGroup) string {
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if covers(d.Doc, d, nil, group) {
				return funcName(d)
			}
		case *ast.GenDecl:
			if name := specName(d, group); name != "" {
				return name
			}
		}
	}
	return ""
}

func specName(d *ast.GenDecl, group *ast.CommentGroup) string {
	first := ""
	for _, s := range d.Specs {
		name := ""
		var doc, line *ast.CommentGroup
		switch s := s.(type) {
		case *ast.TypeSpec:
			name, doc, line = s.Name.Name, s.Doc, s.Comment
			if f := fieldName(s.Type, group); f != "" {
				return name + "." + f
			}
		case *ast.ValueSpec:
			name, doc, line = s.Names[0].Name, s.Doc, s.Comment
		}
		if first == "" {
			first = name
		}
		if name != "" && covers(doc, s, line, group) {
			return name
		}
	}
	if covers(d.Doc, d, nil, group) {
		return first
	}
	return ""
}

func fieldName(typ ast.Expr, group *ast.CommentGroup) string {
	var list *ast.FieldList
	switch t := typ.(type) {
	case *ast.StructType:
		list = t.Fields
	case *ast.InterfaceType:
		list = t.Methods
	default:
		return ""
	}
	for _, f := range list.List {
		if len(f.Names) > 0 && covers(f.Doc, f, f.Comment, group) {
			return f.Names[0].Name
		}
	}
	return ""
}

func covers(doc *ast.CommentGroup, n ast.Node, line, group *ast.CommentGroup) bool {
	return group == doc || group == line || n.Pos() <= group.Pos() && group.End() <= n.End()
}

func funcName(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return d.Name.Name
	}
	typ := d.Recv.List[0].Type
	for {
		switch t := typ.(type) {
		case *ast.StarExpr:
			typ = t.X
		case *ast.IndexExpr:
			typ = t.X
		case *ast.IndexListExpr:
			typ = t.X
		case *ast.Ident:
			return t.Name + "." + d.Name.Name
		default:
			return d.Name.Name
		}
	}
}
