// Package seeded builds programs with known defects, so that tests can check that these are found. A
// defect is a patch in a file that only tests read; the product's sources do not contain it.
//
// A patch begins with a description of the defect, in lines that start with #. Each change starts
// with @@ and a path below the checkout. The lines that start with - are replaced by those that
// start with +. There are no line numbers: the replaced lines must be in the file exactly once.
package seeded

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Dir is where the patches of the scheduler for Kubernetes lie, below the checkout.
const Dir = "live/kube/testdata/seeded"

// ext ends the name of a patch's file.
const ext = ".patch"

// Names returns the defects that there are below root, the checkout, by name, or an error of the
// file system.
func Names(root string) ([]string, error) {
	files, err := os.ReadDir(filepath.Join(root, Dir))
	if err != nil {
		return nil, fmt.Errorf("seeded: %w", err)
	}
	var all []string
	for _, f := range files {
		if name, is := strings.CutSuffix(f.Name(), ext); is {
			all = append(all, name)
		}
	}
	return all, nil
}

// Overlay writes the sources of root, the checkout, that some defects change into the directory to.
// It returns a file for the flag -overlay of go build and go test. It returns an error if a patch
// cannot be read, or does not fit the sources with the patches before it.
func Overlay(root, to string, names ...string) (string, error) {
	texts := map[string]string{}
	for _, name := range names {
		if err := seed(root, name, texts); err != nil {
			return "", fmt.Errorf("seeded: defect %q: %w", name, err)
		}
	}
	path, err := save(root, to, texts)
	if err != nil {
		return "", fmt.Errorf("seeded: %w", err)
	}
	return path, nil
}

// seed applies a patch to texts, which holds the files that have changed, by their paths below root.
func seed(root, name string, texts map[string]string) error {
	text, err := os.ReadFile(filepath.Join(root, Dir, name+ext))
	if err != nil {
		return err
	}
	all, err := parse(string(text))
	if err != nil {
		return err
	}
	for _, c := range all {
		if _, read := texts[c.file]; !read {
			source, err := os.ReadFile(filepath.Join(root, c.file))
			if err != nil {
				return err
			}
			texts[c.file] = string(source)
		}
		if texts[c.file], err = c.apply(texts[c.file]); err != nil {
			return err
		}
	}
	return nil
}

// save writes texts and the file that names them.
func save(root, to string, texts map[string]string) (string, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return "", err
	}
	if to, err = filepath.Abs(to); err != nil {
		return "", err
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		return "", err
	}
	replace := map[string]string{}
	for file, text := range texts {
		path := filepath.Join(to, strings.ReplaceAll(file, "/", "_"))
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return "", err
		}
		replace[filepath.Join(root, file)] = path
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	path := filepath.Join(to, "overlay.json")
	return path, os.WriteFile(path, overlay, 0o600)
}
