package serve

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/oxgang/oxgang/live/status"
)

// fakeSMI has two GPUs, of which the machine may use the second, busy one. It answers what the scheduler asks at its start, and what it measures.
const fakeSMI = `#!/bin/sh
case "$1" in
*utilization*) printf '0, GPU-a, 0, 4, 81559, 29, 71.03\n1, GPU-b, 87, 61234, 81559, 64, 410.52\n' ;;
*) printf '0, GPU-a, NVIDIA A100-SXM4-80GB, 81559\n1, GPU-b, NVIDIA A100-SXM4-80GB, 81559\n' ;;
esac
`

// On a machine with GPUs, the status has the use of those GPUs that the scheduler has, and the job that holds each.
func TestRun_measures_GPUs(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "nvidia-smi"), []byte(fakeSMI), 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	t.Setenv("CUDA_VISIBLE_DEVICES", "GPU-b")
	o := options(t)
	o.Slots = 0
	s := start(t, o)
	id := s.submit("trains", "sleep", "60")
	var use []status.Usage
	await(t, "the use of a GPU that a job holds", func() bool {
		now, err := s.Status(t.Context(), false)
		if err != nil {
			t.Fatal(err)
		}
		use = now.Nodes[0].Use
		return len(use) > 0 && use[0].Job == id
	})
	if u := &use[0]; len(use) != 1 || u.GPU != "1" || *u.Busy != 0.87 || u.Memory.Total != 81559<<20 || u.Celsius != 64 || u.Watts != 411 {
		t.Errorf("use %+v, want the second GPU alone", use)
	}
}
