package rig

import (
	"strings"
	"testing"
)

func TestModuleDirOfNone(t *testing.T) {
	dir, err := ModuleDir(t.Context(), "example.com/none")
	if err == nil || !strings.Contains(err.Error(), "example.com/none") {
		t.Errorf("directory %q, error %v, want one that names the module", dir, err)
	}
}
