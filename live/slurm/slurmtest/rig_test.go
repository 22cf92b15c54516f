//go:build linux

package slurmtest

import (
	"os"
	"testing"
	"time"

	"github.com/oxgang/oxgang/live/slurm/client"
)

// TestRig: a job gets GPUs of the type that it asks for, its accounting says so, and nothing is left when
// the rig is closed.
func TestRig(t *testing.T) {
	begin := time.Now()
	var folder string
	t.Run("run", func(t *testing.T) {
		r := Start(t, Options{Accounting: true})
		t.Logf("started in %v", time.Since(begin).Round(time.Millisecond))
		folder = r.Folder
		id := r.Submit(t, "env > "+r.path("env")+"; sleep 1000", "--gres=gpu:h100:3")
		r.Until(t, id, "its start", func(j *client.Job) bool { return j.State == client.Running })
		if j := r.Job(t, id); j.GPUs.String() != "h100:3" || len(j.HeldGPUs) != 1 || len(j.HeldGPUs[0].Indices) != 3 {
			t.Errorf("it holds %v, %+v, want 3 of type h100", j.GPUs, j.HeldGPUs)
		}
		if err := Await(t.Context(), "its accounting", func() (bool, error) {
			runs, err := r.Client().Accounting(t.Context(), begin.Add(-time.Hour))
			return len(runs) == 1 && runs[0].ID == id && runs[0].Held.String() == "h100:3", err
		}); err != nil {
			t.Error(err)
		}
		t.Logf("ready after %v", time.Since(begin).Round(time.Millisecond))
	})
	if folder == "" {
		t.Skip("no rig")
	}
	if _, err := os.Stat(folder); !os.IsNotExist(err) {
		t.Errorf("%s is still there: %v", folder, err)
	}
}
