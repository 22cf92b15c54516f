package local

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/oxgang/oxgang/live/local/statedir"
	"github.com/oxgang/oxgang/live/store"
	"github.com/oxgang/oxgang/live/supervisor"
	"github.com/oxgang/oxgang/model/job"
)

// A history is a state directory with a job that runs, one that has ended and one that waits.
type history struct {
	o                       Options
	identity                string
	killed                  string // a folder with the database and its log as a killed scheduler leaves them
	running, ended, waiting job.ID
}

// newHistory makes one; its scheduler is gone when it returns.
func newHistory(t *testing.T) *history {
	t.Helper()
	h := &history{o: options(t, 1), killed: t.TempDir()}
	t.Run("before", func(t *testing.T) {
		s := newStage(t, h.o)
		h.identity = s.jobs.store.Identity()
		h.ended = s.shell(t, "ended", "exit 0", 1)
		s.ended(h.ended)
		h.running = s.shell(t, "running", "exec sleep 1000", 1)
		s.up(h.running, 1)
		h.waiting = s.shell(t, "waiting", "exec sleep 1000", 1)
		for _, name := range []string{"oxgang.db-wal", "oxgang.db"} {
			text, err := os.ReadFile(filepath.Join(h.o.Dir, name))
			if err = errors.Join(err, os.WriteFile(filepath.Join(h.killed, name), text, 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		abandoned.Store(s.Backend, true)
	})
	t.Cleanup(func() {
		dir := h.dir()
		if err := supervisor.Stop(dir, supervisor.Notice{Deadline: time.Now()}); err != nil {
			t.Error(err)
		}
		await(t, "the end of "+dir, func() bool { s, err := supervisor.Look(dir); return err == nil && s.Phase == supervisor.Ended })
	})
	return h
}

// dir is that of the generation that runs.
func (h *history) dir() string {
	f := statedir.Folders{Dir: h.o.Dir, Identity: h.identity}
	return f.Generation(statedir.Generation{Job: h.running, Number: 1})
}

// Whatever is lost of the database, nothing is touched and the error says what to do; rebuilt from
// the folders, every job is as it was.
func TestLost_history(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	db := func(o *Options) string { return filepath.Join(o.Dir, "oxgang.db") }
	for name, lose := range map[string]func(o *Options) error{
		"database and log": func(o *Options) error {
			return errors.Join(os.Remove(db(o)), remove(db(o)+"-wal"), remove(db(o)+"-shm"))
		},
		"empty database": func(o *Options) error { return errors.Join(os.Truncate(db(o), 0), remove(db(o)+"-wal")) },
		"flipped":        func(o *Options) error { return errors.Join(flip(db(o)), remove(db(o)+"-wal")) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHistory(t)
			if err := lose(&h.o); err != nil {
				t.Fatal(err)
			}
			refuses(t, h)
			recovers(t, h)
		})
	}
}

// Whatever is lost of the log that a killed scheduler leaves: what is not known any more is noticed.
func TestLost_log(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	for name, lose := range map[string]func(wal []byte) []byte{
		"removed":         func([]byte) []byte { return nil },
		"cut short":       func(wal []byte) []byte { return wal[:len(wal)/2] },
		"cut to its head": func(wal []byte) []byte { return wal[:32] },
		"flipped":         func(wal []byte) []byte { wal[len(wal)/3] ^= 1; return wal },
		"flipped early":   func(wal []byte) []byte { wal[40] ^= 0x80; return wal },
		"zeroed":          func(wal []byte) []byte { return make([]byte, len(wal)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHistory(t)
			db := filepath.Join(h.o.Dir, "oxgang.db")
			text, err := os.ReadFile(filepath.Join(h.killed, "oxgang.db"))
			if err = errors.Join(err, os.WriteFile(db, text, 0o600), remove(db+"-shm"), remove(db+"-wal")); err != nil {
				t.Fatal(err)
			}
			wal, err := os.ReadFile(filepath.Join(h.killed, "oxgang.db-wal"))
			if err != nil {
				t.Fatal(err)
			}
			if wal = lose(wal); wal != nil {
				err = os.WriteFile(db+"-wal", wal, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			refuses(t, h)
			recovers(t, h)
		})
	}
}

// refuses fails the test unless opening says what to do and leaves everything as it is.
func refuses(t *testing.T, h *history) {
	t.Helper()
	s, err := store.Open(h.o.Dir)
	if err == nil {
		_, err = Open(s, h.o)
		err = errors.Join(err, s.Close())
	}
	if err == nil || !strings.Contains(err.Error(), "--recover") {
		t.Fatalf("opened with %v, want an error that says what to do", err)
	}
	if got, err := supervisor.Look(h.dir()); err != nil || got.Phase != supervisor.Running {
		t.Fatalf("the running job is %+v, %v; want that nothing was touched", got, err)
	}
}

// recovers fails the test unless every job is there after recovery, and the one that ran does.
func recovers(t *testing.T, h *history) {
	t.Helper()
	s, err := store.Open(h.o.Dir)
	if errors.Is(err, store.ErrDamaged) {
		if _, err := store.SetAside(h.o.Dir); err != nil {
			t.Fatal(err)
		}
		s, err = store.Open(h.o.Dir)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for range 2 { // the second changes nothing
		node := h.o.Machine.Node()
		if _, err := statedir.Rebuild(s, &statedir.Folders{Dir: h.o.Dir}, &node); err != nil {
			t.Fatal(err)
		}
	}
	if s.Identity() != h.identity {
		t.Errorf("the state directory is called %s, want %s as its processes are marked", s.Identity(), h.identity)
	}
	w, err := Open(s, h.o)
	if err != nil {
		t.Fatal(err)
	}
	e := w.jobs.ByID[h.running]
	if e == nil || len(e.Held) != 1 || len(e.runs) != 1 || e.runs[0].slots == nil {
		t.Error("want the running job to be known, on its slot")
	}
	if e := w.jobs.ByID[h.waiting]; e == nil || len(e.Held) != 0 || len(e.Request.Command) != 3 {
		t.Error("want the waiting job to wait")
	}
	if all, err := s.Outlines(); err != nil || !all[h.ended].Ended || len(all) != 3 {
		t.Errorf("%v, %v: want 3 jobs, of which one has ended", all, err)
	}
	w.executor().pass()
	if got, err := supervisor.Look(h.dir()); err != nil || got.Phase != supervisor.Running {
		t.Errorf("the running job is %+v, %v, want it to run on", got, err)
	}
}

// The last transactions are missing: a start, or an end, that the database does not know.
func TestLost_history_in_part(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	t.Parallel()
	h := newHistory(t)
	launch := filepath.Join(filepath.Dir(h.dir()), "2")
	if err := os.Mkdir(launch, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(launch, "launch.json"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(h.o.Dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := Open(s, h.o); !errors.Is(err, statedir.ErrLost) || !strings.Contains(err.Error(), "start 2 happened, but the database knows only 1") {
		t.Errorf("opened with %v, want that a start is not known", err)
	}
	if err := os.RemoveAll(launch); err != nil {
		t.Fatal(err)
	}
	f := &statedir.Folders{Dir: h.o.Dir, Identity: h.identity}
	known, err := s.Jobs(false)
	if err != nil {
		t.Fatal(err)
	}
	if err := statedir.WriteRecord(f, known[0], &store.Ending{At: time.Now()}); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(s, h.o); !errors.Is(err, statedir.ErrLost) || !strings.Contains(err.Error(), "it has ended, but the database does not know") {
		t.Errorf("opened with %v, want that an end is not known", err)
	}
}

// A job never takes over the folder of another, and its checkpoints, because it has its name.
func TestFolders_are_not_shared(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	t.Parallel()
	w := open(t, options(t, 1))
	if err := os.MkdirAll(filepath.Join(w.folders.Checkpoints("mnist"), "of another"), 0o700); err != nil {
		t.Fatal(err)
	}
	if id := w.shell(t, "mnist", "exit 0", 1); id != "mnist-2" {
		t.Errorf("the job is called %s, want another name than that of a folder with checkpoints", id)
	}
}

// remove removes a file that may not be there.
func remove(path string) error {
	if err := os.Remove(path); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// flip damages every page of a file.
func flip(path string) error {
	text, err := os.ReadFile(path)
	for i := 8; i < len(text); i += 512 {
		text[i] ^= 0xff
	}
	return errors.Join(err, os.WriteFile(path, text, 0o600))
}
