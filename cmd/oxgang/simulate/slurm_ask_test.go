package simulate

import (
	"io"
	"strings"
	"testing"
)

// TestAskSlurm_elsewhere: where there is no sacct, it is said what to do.
func TestAskSlurm_elsewhere(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if _, err := askSlurm(t.Context(), 0); err == nil || !strings.Contains(err.Error(), "sacct: not in PATH") {
		t.Errorf("error %v, want one that says that there is no sacct", err)
	}
	if _, err := askNodes(t.Context(), io.Discard); err == nil || !strings.Contains(err.Error(), "scontrol: not in PATH") {
		t.Errorf("error %v, want one that says that there is no scontrol", err)
	}
}
