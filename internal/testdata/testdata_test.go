package testdata

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestModuleRoot(t *testing.T) {
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(root, "internal", "testdata")); err != nil {
		t.Errorf("module root %s does not hold this package: %v", root, err)
	}
}

func TestFindMissing(t *testing.T) {
	if _, err := find("no/such/file"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("find of a missing file: error %v, want %v", err, os.ErrNotExist)
	}
}
