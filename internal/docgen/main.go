// Command docgen writes docs/papers.md, from Source and Deviation lines of comments, and docs/reference/api.md,
// from our Kubernetes kinds.
package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

//go:generate go run . ../..

var pages = map[string]func(root fs.FS) ([]byte, error){
	"docs/papers.md":        papers,
	"docs/reference/api.md": api,
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: docgen <root of the module>")
		os.Exit(2)
	}
	for page, text := range pages {
		if err := write(os.Args[1], page, text); err != nil {
			fmt.Fprintln(os.Stderr, "error:", err)
			os.Exit(1)
		}
	}
}

func write(root, page string, generate func(fs.FS) ([]byte, error)) error {
	text, err := generate(os.DirFS(root))
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(root, page), text, 0o644)
}

func papers(root fs.FS) ([]byte, error) {
	notes, err := collect(root)
	if err != nil {
		return nil, err
	}
	return render(notes), nil
}
