package statedir_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/oxgang/oxgang/live/local/statedir"
	"github.com/oxgang/oxgang/model/job"
)

// A folder that a job has used is never another's; one that a crash left empty may be.
func TestMake(t *testing.T) {
	f := statedir.Folders{Dir: t.TempDir()}
	for range 2 {
		if err := f.Make("a", nil); err != nil {
			t.Errorf("an unused folder: %v, want it to be taken", err)
		}
	}
	for id, put := range map[job.ID]string{"b": "job.json", "c": "1", "d": "checkpoints/1", "e": "log"} {
		if err := os.MkdirAll(filepath.Join(f.Job(id), put), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := f.Make(id, nil); !errors.Is(err, fs.ErrExist) {
			t.Errorf("a folder with %s: %v, want that it is there", put, err)
		}
	}
}
