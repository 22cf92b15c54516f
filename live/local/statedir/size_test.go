package statedir

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/oxgang/oxgang/live/store"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
)

// However many jobs have ended, their folders take no more than the limit, and the database grows only by
// a small row for each.
func TestPrune_bounds_the_state_directory(t *testing.T) {
	const jobs, every, limit = 400, 50, 200 << 10
	p := newPlace(t)
	dir := filepath.Join(t.TempDir(), "state")
	s, err := store.Open(dir)
	p.must(err)
	p.o.Folders = &Folders{Dir: dir}
	p.store = s
	env := []string{"LONG=" + strings.Repeat("x", 16<<10)}
	for i := range jobs {
		id := job.ID(fmt.Sprintf("short-%d", i))
		p.must(s.Accept(&store.Job{
			Spec: &job.Spec{ID: id, Name: "short", Class: "short", GPUs: 1}, Token: string(id),
			Request: store.Request{Command: []string{"true"}, Dir: "/", Env: env}, Status: job.Status{Phase: job.Waiting, Submitted: now},
		}))
		p.must(p.o.Folders.Make(id, nil))
		p.write(p.o.Folders.Log(id), 4096)
		p.must(s.End(id, store.Ending{Outcome: scheduler.Done, At: now.Add(time.Duration(i) * time.Second)}))
		if (i+1)%every == 0 {
			p.prune(Limits{Logs: {Bytes: limit}})
		}
	}
	if n, err := size(filepath.Join(dir, "jobs")); err != nil || n > limit+32<<10 { // with the directory of them all
		t.Errorf("folders take %d bytes, %v; want at most %d", n, err, limit)
	}
	p.must(s.Close())
	info, err := os.Stat(filepath.Join(dir, "oxgang.db"))
	p.must(err)
	if most := int64(2*every*(17<<10) + jobs*(2<<10)); info.Size() > most {
		t.Errorf("the database has %d bytes for %d jobs, want at most %d", info.Size(), jobs, most)
	}
}
