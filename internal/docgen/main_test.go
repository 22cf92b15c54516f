package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestPagesAreCurrent checks that the committed pages are what the command writes.
func TestPagesAreCurrent(t *testing.T) {
	const root = "../.."
	for page, generate := range pages {
		want, err := generate(os.DirFS(root))
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(root, page))
		if err != nil {
			t.Fatal(err)
		}
		have := bytes.Split(got, []byte("\n"))
		for i, line := range bytes.Split(want, []byte("\n")) {
			if i >= len(have) || !bytes.Equal(have[i], line) {
				t.Fatalf("%s is not current, run go generate ./internal/docgen; line %d should be\n%s", page, i+1, line)
			}
		}
		if len(got) != len(want) {
			t.Fatalf("%s is not current, run go generate ./internal/docgen: it is too long", page)
		}
	}
}
