package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/oxgang/oxgang/model/job"
)

// smallDisk mounts a disk of 2 MB.
func smallDisk(t *testing.T) string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("NOT TESTED: a full disk. Mounting a small one needs root")
	}
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=2m"); err != nil {
		t.Skip("NOT TESTED: a full disk. Mounting a small one:", err)
	}
	t.Cleanup(func() { must(t, syscall.Unmount(dir, syscall.MNT_DETACH)) })
	return dir
}

// ballast fills a disk but for some bytes.
func ballast(t *testing.T, dir string, left int64) (remove func()) {
	t.Helper()
	var fs syscall.Statfs_t
	must(t, syscall.Statfs(dir, &fs))
	path := filepath.Join(dir, "ballast")
	must(t, os.WriteFile(path, make([]byte, max(0, int64(fs.Bavail)*fs.Bsize-left)), 0o600))
	return func() { must(t, os.Remove(path)) }
}

// TestFullDisk: whatever is left on a disk, a call that finds no room says so and writes
// nothing; once there is room, it works, without reopening.
func TestFullDisk(t *testing.T) {
	for left := int64(0); left <= 40<<10; left += 8 << 10 {
		t.Run(fmt.Sprint(left, " bytes left"), func(t *testing.T) {
			disk := smallDisk(t)
			dir := filepath.Join(disk, "state")
			s, err := Open(dir)
			must(t, err)
			defer s.Close()
			accepted(t, s, "a", "")
			accepted(t, s, "b", "")
			remove := ballast(t, disk, left)
			round := fill(t, s)
			before := loaded(t, s)
			if err := whole(before); before.Round != round || err != nil {
				t.Errorf("round %d, acknowledged %d; %v", before.Round, round, err)
			}
			for what, err := range map[string]error{
				"Commit": commitOf(s, round+1),
				"Accept": s.Accept(newJob("c", "")),
			} {
				if !errors.Is(err, ErrFull) {
					t.Errorf("%s: got %v, want it to say that the disk is full", what, err)
				}
			}
			if diff := cmp.Diff(before, loaded(t, s)); diff != "" {
				t.Error("written all the same:", diff)
			}
			remove()
			must(t, commitOf(s, round+1))
			accepted(t, s, "c", "")
			want := loaded(t, s)
			must(t, s.Close())
			st, _, err := look(dir)
			must(t, err)
			if diff := cmp.Diff(want, st); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// fill commits plans until there is no room, and returns the last round.
func fill(t *testing.T, s *Store) int64 {
	t.Helper()
	for round := int64(1); round < 1000; round++ {
		err := commitOf(s, round)
		if errors.Is(err, ErrFull) {
			return round - 1
		}
		must(t, err)
	}
	t.Fatal("1000 plans on a full disk")
	return 0
}

func commitOf(s *Store, round int64) error {
	p := planOf(round, []job.ID{"a", "b"})
	return s.Commit(&p)
}

// TestFullDisk_at_the_start: nothing is left behind that keeps the next Open from it.
func TestFullDisk_at_the_start(t *testing.T) {
	disk := smallDisk(t)
	dir := filepath.Join(disk, "state")
	must(t, os.Mkdir(dir, 0o700))
	for _, left := range []int64{0, 4 << 10, 8 << 10, 32 << 10} {
		remove := ballast(t, disk, left)
		_, err := Open(dir)
		if !errors.Is(err, ErrFull) {
			t.Errorf("%d bytes left: got %v, want it to say that the disk is full", left, err)
		}
		remove()
	}
	for range 2 {
		s, err := Open(dir)
		must(t, err)
		must(t, s.Close())
		remove := ballast(t, disk, 0)
		if _, err = Open(dir); !errors.Is(err, ErrFull) { // no room for the index of the log
			t.Errorf("got %v, want it to say that the disk is full", err)
		}
		remove()
	}
}
