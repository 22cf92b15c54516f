package control

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// A rotating is a log of files of so many lines, at most three of them.
type rotating struct {
	t    *testing.T
	path string
	size int
	n    int // lines written
}

func (r *rotating) write(lines int) {
	r.t.Helper()
	for range lines {
		if r.n > 0 && r.n%r.size == 0 {
			r.rotate()
		}
		f, err := os.OpenFile(r.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			r.t.Fatal(err)
		}
		fmt.Fprintln(f, r.n)
		if err := f.Close(); err != nil {
			r.t.Fatal(err)
		}
		r.n++
	}
}

func (r *rotating) rotate() {
	for i := 1; i >= 0; i-- {
		from := (&Tail{Path: r.path}).name(i)
		to := (&Tail{Path: r.path}).name(i + 1)
		if err := os.Rename(from, to); err != nil && !os.IsNotExist(err) {
			r.t.Fatal(err)
		}
	}
}

func numbers(first, last int) string {
	var b strings.Builder
	for i := first; i <= last; i++ {
		fmt.Fprintln(&b, i)
	}
	return b.String()
}

func TestTail(t *testing.T) {
	tests := []struct{ size, written, lines, first int }{
		{10, 0, 5, 0},
		{10, 8, 5, 3},
		{10, 8, 8, 0},
		{10, 8, 9, 0},
		{10, 8, 0, 8},
		{10, 25, 5, 20},
		{10, 25, 6, 19},
		{10, 25, 16, 9},
		{10, 25, 100, 0},
		{10, 45, 100, 20}, // all there is: older files are gone
		{20000, 30000, 25000, 5000},
	}
	for _, test := range tests {
		r := &rotating{t: t, path: filepath.Join(t.TempDir(), "log"), size: test.size}
		r.write(test.written)
		var got bytes.Buffer
		if err := (&Tail{Path: r.path}).Copy(t.Context(), test.lines, false, &got); err != nil {
			t.Fatal(err)
		}
		if want := numbers(test.first, test.written-1); got.String() != want {
			t.Errorf("%+v: got %.60q ..., want %.60q ...", test, got.String(), want)
		}
	}
}

func TestTail_a_last_line_without_end_is_one(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(path, []byte("a\nb\nc"), 0o600); err != nil {
		t.Fatal(err)
	}
	for lines, want := range map[int]string{1: "c", 2: "b\nc", 3: "a\nb\nc", 4: "a\nb\nc"} {
		var got bytes.Buffer
		if err := (&Tail{Path: path}).Copy(t.Context(), lines, false, &got); err != nil || got.String() != want {
			t.Errorf("%d lines: got %q and %v, want %q", lines, got.String(), err, want)
		}
	}
}

// A follower reads every line once, in order, over rotations, from before there is a
// log to the end of the job.
func TestTail_follow(t *testing.T) {
	for _, burst := range []int{1, 3, 10, 17} {
		synctest.Test(t, func(t *testing.T) {
			r := &rotating{t: t, path: filepath.Join(t.TempDir(), "log"), size: 10}
			var got bytes.Buffer
			var ended atomic.Bool
			var wg sync.WaitGroup
			tail := &Tail{Path: r.path, Ended: ended.Load}
			wg.Go(func() {
				if err := tail.Copy(t.Context(), 50, true, &got); err != nil {
					t.Error(err)
				}
			})
			for range 12 {
				synctest.Wait() // the follower waits for more
				r.write(burst)
				<-time.After(pollTime)
			}
			ended.Store(true)
			wg.Wait()
			if want := numbers(0, r.n-1); got.String() != want {
				t.Errorf("bursts of %d: got %q, want %q", burst, got.String(), want)
			}
		})
	}
}

// What is rotated away unread is not passed over in silence.
func TestTail_says_what_was_lost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &rotating{t: t, path: filepath.Join(t.TempDir(), "log"), size: 10}
		r.write(5)
		var got bytes.Buffer
		var ended atomic.Bool
		var wg sync.WaitGroup
		wg.Go(func() {
			if err := (&Tail{Path: r.path, Ended: ended.Load}).Copy(t.Context(), 50, true, &got); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		r.write(60)
		ended.Store(true)
		wg.Wait()
		if want := numbers(0, 9) + lost + numbers(40, 64); got.String() != want {
			t.Errorf("got %q, want %q", got.String(), want)
		}
	})
}

// While files are renamed one name is missing; so it stays if the writer dies there.
func TestTail_half_a_rotation(t *testing.T) {
	for _, hole := range []int{0, 1, 2} {
		r := &rotating{t: t, path: filepath.Join(t.TempDir(), "log"), size: 10}
		r.write(30)
		for i := 2; i >= hole; i-- {
			if err := os.Rename((&Tail{Path: r.path}).name(i), (&Tail{Path: r.path}).name(i+1)); err != nil {
				t.Fatal(err)
			}
		}
		f, err := os.Open((&Tail{Path: r.path}).name(3))
		if err != nil {
			t.Fatal(err)
		}
		var got bytes.Buffer
		f, err = (&Tail{Path: r.path}).drain(t.Context(), f, &got)
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
		if want := numbers(0, 29); got.String() != want {
			t.Errorf("hole at %d: got %q, want %q", hole, got.String(), want)
		}
	}
}

func TestTail_ends_with_its_context(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		err := (&Tail{Path: filepath.Join(t.TempDir(), "log"), Ended: func() bool { return false }}).Copy(ctx, 1, true, io.Discard)
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want that the context ended", err)
		}
	})
}
