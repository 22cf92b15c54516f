package local

import (
	"os"
	"path/filepath"
	"testing"
)

// A scheduler finds what runs again in a state directory of any name.
func TestOpen_of_a_path_that_is_a_pattern(t *testing.T) {
	t.Parallel()
	o := options(t, 2)
	o.Dir = filepath.Join(o.Dir, "a[b]*?c")
	if err := os.Mkdir(o.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	s := newStage(t, o)
	id, _ := s.speaks("job")
	again, err := Open(s.jobs.store, s.o)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(again.jobs.ByID[id].runs); n != 1 {
		t.Errorf("the running job is found to have %d generations that run, want 1", n)
	}
}
