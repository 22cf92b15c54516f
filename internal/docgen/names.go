package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
)

func writeNames(b *bytes.Buffer, text []byte) error {
	file, err := parser.ParseFile(token.NewFileSet(), "", text, parser.ParseComments)
	if err != nil {
		return err
	}
	b.WriteString("\n## Labels, annotations and other names\n\n| Name | In package v1alpha1 | Meaning |\n| --- | --- | --- |\n")
	rows := 0
	for _, d := range file.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.CONST {
			continue
		}
		doc := ""
		for _, s := range g.Specs {
			v := s.(*ast.ValueSpec)
			if v.Doc != nil {
				doc = v.Doc.Text()
			}
			if name := nameOf(v); strings.Contains(name, "/") {
				fmt.Fprintf(b, "| `%s` | `%s` | %s |\n", name, v.Names[0].Name, cell(sentence(doc)))
				rows++
			}
		}
	}
	if rows == 0 {
		return errors.New("no names in it")
	}
	return nil
}

func nameOf(v *ast.ValueSpec) string {
	if len(v.Values) != 1 {
		return ""
	}
	literal, ok := v.Values[0].(*ast.BasicLit)
	if !ok || literal.Kind != token.STRING {
		return ""
	}
	name, err := strconv.Unquote(literal.Value)
	if err != nil {
		return ""
	}
	return name
}
