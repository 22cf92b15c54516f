// Command papersdoc writes docs/papers.md: which code stands for which place in
// which paper, and where it departs from one. It collects the Source and the
// Deviation lines in the comments of every Go file of the module, tests
// included.
package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

//go:generate go run .

// page is what the command writes, below the module's root.
const page = "docs/papers.md"

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// run writes the page of the module around the working directory.
func run() error {
	root, err := moduleRoot()
	if err != nil {
		return err
	}
	text, err := generate(os.DirFS(root))
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(root, page), text, 0o644)
}

// generate returns the page of the module in tree.
func generate(tree fs.FS) ([]byte, error) {
	notes, err := collect(tree)
	if err != nil {
		return nil, err
	}
	return render(notes), nil
}

// moduleRoot returns the nearest directory with a go.mod, from the working
// directory upwards.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", fmt.Errorf("find go.mod above the working directory: %w", fs.ErrNotExist)
		}
		dir = up
	}
}
