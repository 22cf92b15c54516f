package statedir

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/oxgang/oxgang/live/supervisor"
)

func TestObservation(t *testing.T) {
	ok, failed, stopped := supervisor.Exit{}, supervisor.Exit{Code: 1}, supervisor.Exit{Code: supervisor.TempFail}
	for _, tc := range []struct {
		name                     string
		phase                    supervisor.Phase
		exits                    []supervisor.Exit
		over, succeeded, stopped bool
	}{
		{"it runs", supervisor.Running, nil, false, false, false},
		{"its supervisor is gone", supervisor.Gone, nil, true, false, false},
		{"all went well", supervisor.Ended, []supervisor.Exit{ok, ok}, true, true, false},
		{"one failed", supervisor.Ended, []supervisor.Exit{ok, failed}, true, false, false},
		{"one stopped, the other was done", supervisor.Ended, []supervisor.Exit{ok, stopped}, true, false, true},
		{"one stopped, the other failed", supervisor.Ended, []supervisor.Exit{stopped, failed}, true, false, false},
	} {
		o := &Observation{State: supervisor.State{Phase: tc.phase, Workers: tc.exits}}
		if o.Over() != tc.over || o.Succeeded() != tc.succeeded || o.StoppedOnNotice() != tc.stopped {
			t.Errorf("%s: over %v, succeeded %v, stopped %v", tc.name, o.Over(), o.Succeeded(), o.StoppedOnNotice())
		}
	}
}

func TestObservation_says_why(t *testing.T) {
	gone := &Observation{State: supervisor.State{Phase: supervisor.Gone, Detail: "worker 0: exit code 1"}}
	if got := gone.Detail(); !strings.Contains(got, "gone") {
		t.Errorf("got %q, want that who kept it is gone", got)
	}
	ended := &Observation{State: supervisor.State{Phase: supervisor.Ended, Detail: "worker 0: exit code 1", Tail: []string{"a", "b"}}}
	if got := ended.Detail() + ended.LastLines(); got != "worker 0: exit code 1; its last lines:\na\nb" {
		t.Errorf("got %q", got)
	}
}

// All generations that were launched are found, and nothing else.
func TestAll(t *testing.T) {
	f := &Folders{Dir: t.TempDir(), Identity: "test"}
	for _, dir := range []string{f.Generation(Generation{Job: "a", Number: 2}), f.Checkpoints("a"), f.Job("b")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "launch.json"), []byte(`{"workers":[{"cpus":[3,4]}]}`), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	all, err := All(f)
	if err != nil || len(all) != 1 {
		t.Fatalf("got %v, %v, want one generation", all, err)
	}
	if o := all[0]; o.Job != "a" || o.Number != 2 || len(o.Cores) != 2 || o.Began.IsZero() {
		t.Errorf("got %+v, want generation 2 of a on two cores", o)
	}
}
