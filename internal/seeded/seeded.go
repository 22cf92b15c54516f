// Package seeded builds programs with known defects, so that tests can check that the defects are found.
//
// A patch begins with a description, in lines that start with #. Each change starts with @@ and a path. Lines with
// + replace lines with -, which must occur exactly once in the file.
package seeded

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

const patches = "live/kube/testdata/seeded"

const ext = ".patch"

// Names returns the names of the defects in the checkout root.
func Names(root string) ([]string, error) {
	files, err := os.ReadDir(filepath.Join(root, patches))
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

// Overlay writes the changed sources to a directory, and returns a file for the flag -overlay of the go command.
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

func seed(root, name string, texts map[string]string) error {
	text, err := os.ReadFile(filepath.Join(root, patches, name+ext))
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
