package serve

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/oxgang/oxgang/live/local/statedir"
	"github.com/oxgang/oxgang/model/job"
)

// A backup that was made while jobs run serves elsewhere: what had ended has ended, what ran starts
// again, what waited waits, and the processes of the first scheduler are not touched.
func TestBackup(t *testing.T) {
	t.Parallel()
	first := start(t, options(t))
	done := first.submit("done", "true")
	first.ended(done)
	out := filepath.Join(t.TempDir(), "pids")
	script := "echo $$ >> " + out + "; exec sleep 1000"
	runs := first.submit("runs", "sh", "-c", script)
	process := pid(t, out)
	file := filepath.Join(t.TempDir(), "backup")
	if _, err := statedir.Backup(t.Context(), file, first.o.Dir, true); err != nil {
		t.Fatal(err)
	}
	later := first.submit("later", "true")
	first.ended(later)
	o := options(t)
	if _, err := statedir.Restore(t.Context(), file, o.Dir); err != nil {
		t.Fatal(err)
	}
	second := start(t, o)
	await(t, "a second start", func() bool {
		text, err := os.ReadFile(out)
		return err == nil && strings.Count(string(text), "\n") == 2
	})
	if v := second.view(done); v.Outcome != "done" {
		t.Errorf("job done is %s, want done", v.Outcome)
	}
	if _, err := second.Job(t.Context(), later); err == nil {
		t.Error("a job that came later is known")
	}
	if id := second.submit("done", "true"); id != "done-2" {
		t.Errorf("name %s, want done-2", id)
	}
	if v := first.view(runs); v.Phase != job.Running.String() && v.Phase != job.Restoring.String() || !lives(process) {
		t.Errorf("job runs is %s and its process lives: %t, want it to be untouched", v.Phase, lives(process))
	}
}
