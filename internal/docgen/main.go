// Command papersdoc writes docs/papers.md, which says which code implements which place
// of which paper, and where it deviates from one. It collects the Source and the
// Deviation lines in the comments of every Go file of the module, tests included.
package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

//go:generate go run . ../..

// page is what the command writes, below the module's root.
const page = "docs/papers.md"

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: papersdoc <root of the module>")
		os.Exit(2)
	}
	root := os.Args[1]
	text, err := generate(os.DirFS(root))
	if err == nil {
		err = os.WriteFile(filepath.Join(root, page), text, 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// generate returns the page of the module in tree.
func generate(tree fs.FS) ([]byte, error) {
	notes, err := collect(tree)
	if err != nil {
		return nil, err
	}
	return render(notes), nil
}
