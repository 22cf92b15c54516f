package statedir

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/oxgang/oxgang/live/store"
)

const fileCount = 17

// saveWhole publishes a checkpoint of fileCount files, with or without the manifest of the client.
func saveWhole(t *testing.T, dir, name string, listed bool) {
	t.Helper()
	part := filepath.Join(dir, ".tmp-"+name)
	must(t, os.Mkdir(part, 0o700))
	files := map[string]entry{}
	for i := range fileCount {
		file, text := fmt.Sprintf("rank%d", i), strings.Repeat(name, 2000+i)
		must(t, os.WriteFile(filepath.Join(part, file), []byte(text), 0o600))
		files[file] = entry{int64(len(text)), digest(text)}
	}
	if listed {
		text, err := json.Marshal(map[string]any{"files": files})
		must(t, err)
		must(t, os.WriteFile(filepath.Join(part, listing), text, 0o600))
		must(t, os.WriteFile(filepath.Join(part, seal), []byte(digest(string(text))+"  "+listing+"\n"), 0o600))
	}
	must(t, os.Rename(part, filepath.Join(dir, name)))
}

// rotate saves checkpoints and deletes old ones, file by file, until ctx is done.
func rotate(ctx context.Context, t *testing.T, dir string, listed bool) {
	for n := 0; ctx.Err() == nil; n++ {
		saveWhole(t, dir, fmt.Sprintf("g00001-%08d", n), listed)
		old := filepath.Join(dir, fmt.Sprintf("g00001-%08d", n-2))
		for i := range fileCount { // a program that does not rename first
			_ = os.Remove(filepath.Join(old, fmt.Sprintf("rank%d", i)))
		}
		_ = os.RemoveAll(old)
		time.Sleep(10 * time.Millisecond) // more than the clock of file systems
	}
}

// Without a manifest, a program that stopped while it deleted a checkpoint is noticed by the time of its directory.
func TestBackup_omits_a_checkpoint_being_deleted(t *testing.T) {
	dir, _ := state(t)
	saved := (&Folders{Dir: dir}).Checkpoints("waits")
	must(t, os.RemoveAll(filepath.Join(saved, "new")))
	for _, name := range []string{"g1", "g2", "g3"} {
		saveWhole(t, saved, name, false)
	}
	hour := time.Now().Add(-time.Hour)
	for _, name := range []string{"g1", "g3"} { // g3 lost a file an hour ago: perhaps it never had one
		must(t, os.Remove(filepath.Join(saved, name, "rank0")))
		for i := 1; i < fileCount; i++ {
			must(t, os.Chtimes(filepath.Join(saved, name, fmt.Sprintf("rank%d", i)), hour, hour))
		}
	}
	must(t, os.Chtimes(filepath.Join(saved, "g3"), hour, hour.Add(time.Second)))
	torn, err := Backup(t.Context(), filepath.Join(t.TempDir(), "backup"), dir, true)
	if err != nil || len(torn) != 1 || torn[0].String() != "job waits: checkpoint g1: files were removed from it in the last minute" {
		t.Errorf("left out %v, %v; want g1", torn, err)
	}
}

// A backup of a job that rotates its checkpoints has only whole ones, whoever wrote them.
func TestBackup_has_only_whole_checkpoints(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for _, listed := range []bool{true, false} {
		dir, _ := state(t)
		f := Folders{Dir: dir}
		must(t, os.RemoveAll(filepath.Join(f.Checkpoints("waits"), "new")))
		ctx, stop := context.WithCancel(t.Context())
		var rotating sync.WaitGroup
		rotating.Go(func() { rotate(ctx, t, f.Checkpoints("waits"), listed) })
		saved := 0
		for range 6 {
			file := filepath.Join(t.TempDir(), "backup")
			if _, err := Backup(t.Context(), file, dir, true); err != nil && !strings.Contains(err.Error(), "no checkpoint of job waits") {
				t.Fatal(err)
			}
			to, _ := restored(t, file)
			units, err := filepath.Glob((&Folders{Dir: to}).Checkpoints("waits") + "/*")
			must(t, err)
			for _, unit := range units {
				all, _ := filepath.Glob(unit + "/rank*")
				if saved++; len(all) != fileCount {
					t.Errorf("%s (listed: %t) has %d of %d files", unit, listed, len(all), fileCount)
				}
			}
		}
		stop()
		rotating.Wait()
		if saved == 0 {
			t.Errorf("listed %t: no backup had a checkpoint", listed)
		}
	}
}

// A torn checkpoint is left out and named; the whole one beside it is in the file. A job that has only torn ones is an
// error.
func TestBackup_names_what_it_left_out(t *testing.T) {
	for what, tear := range map[string]func(unit string) error{
		"rank3 is missing":                func(unit string) error { return os.Remove(filepath.Join(unit, "rank3")) },
		"rank3 has 1 bytes, want 28042":   func(unit string) error { return os.WriteFile(filepath.Join(unit, "rank3"), []byte("x"), 0o600) },
		"rank3 has SHA-256":               func(unit string) error { return os.WriteFile(filepath.Join(unit, "rank3"), make([]byte, 28042), 0o600) },
		"no manifest.json":                func(unit string) error { return os.Remove(filepath.Join(unit, listing)) },
		"manifest.json.sha256 does not m": func(unit string) error { return os.Remove(filepath.Join(unit, seal)) },
	} {
		dir, _ := state(t)
		saved := (&Folders{Dir: dir}).Checkpoints("waits")
		must(t, os.RemoveAll(filepath.Join(saved, "new")))
		saveWhole(t, saved, "g00001-0000001", true)
		saveWhole(t, saved, "g00001-0000002", true)
		must(t, tear(filepath.Join(saved, "g00001-0000002")))
		file := filepath.Join(t.TempDir(), "backup")
		torn, err := Backup(t.Context(), file, dir, true)
		if err != nil || len(torn) != 1 || torn[0].Job != "waits" || torn[0].Name != "g00001-0000002" || !strings.Contains(torn[0].String(), what) {
			t.Errorf("left out %v, %v; want g00001-0000002: %s", torn, err, what)
		}
		to, _ := restored(t, file)
		if units, _ := os.ReadDir((&Folders{Dir: to}).Checkpoints("waits")); len(units) != 1 || units[0].Name() != "g00001-0000001" {
			t.Errorf("%s: restored %v", what, units)
		}
		must(t, os.RemoveAll(filepath.Join(saved, "g00001-0000001")))
		if _, err := Backup(t.Context(), file, dir, true); err == nil || !strings.Contains(err.Error(), "the file has no checkpoint of job waits") {
			t.Errorf("%s: %v, want that the job has none", what, err)
		}
	}
}

// The torn checkpoints in a file of an earlier version are not restored, and the database forgets them.
func TestRestore_drops_torn_checkpoints(t *testing.T) {
	dir, s := state(t)
	f := Folders{Dir: dir}
	saveWhole(t, f.Checkpoints("waits"), "g1", true)
	must(t, os.Remove(filepath.Join(f.Checkpoints("waits"), "g1", "rank0")))
	must(t, s.Checkpoint("waits", store.Checkpoint{Path: "g1", Step: 9}, 0))
	file := filepath.Join(t.TempDir(), "backup")
	out, err := os.Create(file)
	must(t, err)
	w := &writer{ctx: t.Context(), dir: dir, out: out, tar: tar.NewWriter(out), sum: sha256.New()}
	must(t, w.tree(f.Checkpoints("waits")))
	must(t, w.all(filepath.Join(t.TempDir(), database), false))
	must(t, out.Close())
	to := filepath.Join(t.TempDir(), "state")
	torn, err := Restore(t.Context(), file, to)
	if err != nil || len(torn) != 1 || torn[0].String() != "job waits: checkpoint g1: rank0 is missing" {
		t.Errorf("left out %v, %v", torn, err)
	}
	r, err := store.Open(to)
	must(t, err)
	defer r.Close()
	st, err := r.Load()
	must(t, err)
	if j := st.Jobs[0].Job; j.Checkpoint == nil || j.Checkpoint.Path != "new" {
		t.Errorf("checkpoint %+v, want new", j.Checkpoint)
	}
}

// The folders of killed backups and restores, which have secrets, are deleted by the next one; those in use stay. A
// backup that is interrupted leaves nothing.
func TestBackup_removes_drafts_of_killed_processes(t *testing.T) {
	dir, _ := state(t)
	place := t.TempDir()
	file := filepath.Join(place, "backup")
	names := func() []string {
		all, err := os.ReadDir(place)
		must(t, err)
		var names []string
		for _, e := range all {
			names = append(names, e.Name())
		}
		return names
	}
	for _, name := range []string{".oxgang-backup-1", ".oxgang-restore-1"} {
		must(t, os.Mkdir(filepath.Join(place, name), 0o700))
		must(t, os.WriteFile(filepath.Join(place, name, "whole"), []byte("secret"), 0o600))
	}
	used, err := newDraft(place, ".oxgang-backup-2")
	must(t, err)
	must(t, whole(t)(Backup(t.Context(), file, dir, true)))
	must(t, whole(t)(Restore(t.Context(), file, filepath.Join(place, "state"))))
	if got := names(); !slices.Equal(got, []string{filepath.Base(used.path), "backup", "state"}) {
		t.Errorf("%q, want the draft in use, the backup and the restored state", got)
	}
	must(t, used.remove())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Backup(ctx, filepath.Join(place, "other"), dir, true); !errors.Is(err, context.Canceled) {
		t.Errorf("an interrupted backup: %v", err)
	}
	if _, err := Restore(ctx, file, filepath.Join(place, "other")); !errors.Is(err, context.Canceled) {
		t.Errorf("an interrupted restore: %v", err)
	}
	if got := names(); !slices.Equal(got, []string{"backup", "state"}) {
		t.Errorf("left %q", got)
	}
}
