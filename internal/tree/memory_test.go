package tree

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/oxgang/oxgang/internal/memory"
	"github.com/oxgang/oxgang/internal/testdata"
)

// savedForm is memory.Version and a digest of all functions that write or read the memory of policies.
const savedForm = "3 0fd52ca9c56f"

// A changed form of saved memory has a new version: otherwise a checkpoint of an earlier build is read as something else.
func TestMemory_has_a_new_version_when_its_form_changes(t *testing.T) {
	tree := os.DirFS(testdata.Root(t))
	got := fmt.Sprintf("%d %s", memory.Version, codecDigest(t, tree, ""))
	if got != savedForm {
		t.Errorf("functions with a *memory.Codec have changed: %q, want %q. If they save other fields, or in another order, raise memory.Version. Then correct savedForm", got, savedForm)
	}
	if changed := codecDigest(t, tree, "m.Fields(&p.GPUs)"); strings.HasSuffix(got, changed) {
		t.Error("a field that is no longer saved changes no digest")
	}
}

// codecDigest is a digest of the functions that have a *memory.Codec as a parameter, without the text missing.
func codecDigest(t *testing.T, tree fs.FS, missing string) string {
	t.Helper()
	h := sha256.New()
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && strings.HasPrefix(d.Name(), ".") && name != "." {
			return cmp.Or(err, fs.SkipDir)
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") || isTest(name) || strings.HasPrefix(name, "internal/") {
			return nil
		}
		text, err := fs.ReadFile(tree, name)
		if err != nil || !bytes.Contains(text, []byte(".Codec)")) {
			return err
		}
		if missing != "" {
			text = bytes.ReplaceAll(text, []byte(missing), nil)
		}
		return writeCodecs(h.Write, name, text)
	})
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:6])
}

func writeCodecs(write func([]byte) (int, error), name string, text []byte) error {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, text, 0) // without comments
	if err != nil {
		return err
	}
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || !takesCodec(f) {
			continue
		}
		var b bytes.Buffer
		if err := format.Node(&b, set, f); err != nil {
			return err
		}
		if _, err := write(b.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

func takesCodec(f *ast.FuncDecl) bool {
	for _, p := range f.Type.Params.List {
		if star, ok := p.Type.(*ast.StarExpr); ok {
			if s, ok := star.X.(*ast.SelectorExpr); ok && s.Sel.Name == "Codec" {
				return true
			}
		}
	}
	return false
}
