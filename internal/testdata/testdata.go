// Package testdata finds the measured data that tests read. It is outside the repository,
// in ../shared/data.
package testdata

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Path returns the path of rel, slash-separated, below the shared data folder
// ../shared/data of the repository root. Where it is missing the test is
// skipped, or fails if the environment variable CI is "true".
func Path(t testing.TB, rel string) string {
	t.Helper()
	return need(t, filepath.Join("data", filepath.FromSlash(rel)))
}

// Case returns the path of rel below ../shared/cases, the inputs in the forms that real tools print; otherwise
// as Path.
func Case(t testing.TB, rel string) string {
	t.Helper()
	return need(t, filepath.Join("cases", filepath.FromSlash(rel)))
}

func need(t testing.TB, rel string) string {
	t.Helper()
	path, err := find(rel)
	switch {
	case err == nil:
	case strings.EqualFold(os.Getenv("CI"), "true"):
		t.Fatalf("shared data: %v", err)
	default:
		t.Skipf("shared data is not here: %v", err)
	}
	return path
}

// Root returns the module's folder. It fails the test if there is none above
// the working folder.
func Root(t testing.TB) string {
	t.Helper()
	root, err := moduleRoot()
	if err != nil {
		t.Fatalf("find go.mod above the working folder: %v", err)
	}
	return root
}

func find(rel string) (string, error) {
	root, err := moduleRoot()
	if err != nil {
		return "", err
	}
	path := filepath.Join(root, "..", "shared", rel)
	_, err = os.Stat(path)
	return path, err
}

// moduleRoot returns the nearest folder with a go.mod, from the working
// folder upwards.
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
			return "", os.ErrNotExist
		}
		dir = up
	}
}
