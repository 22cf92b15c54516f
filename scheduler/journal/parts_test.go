package journal_test

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/scheduler/journal"
)

func sources(texts ...[]byte) []journal.Source {
	all := make([]journal.Source, len(texts))
	for i, text := range texts {
		all[i] = journal.Source{ReaderAt: bytes.NewReader(text), Size: int64(len(text))}
	}
	return all
}

// TestOpenParts: the parts of a journal are the journal with checkpoints, byte by byte, but for the heads of parts.
// What is left after the first parts were deleted is what a reader reads from a checkpoint on, and begins with what
// that says.
func TestOpenParts(t *testing.T) {
	whole, wants := kept(t, false)
	parts := partsOf(t, 3)
	if len(parts) < 4 {
		t.Fatalf("%d parts, want some", len(parts))
	}
	joined := slices.Clone(parts[0])
	for _, p := range parts[1:] {
		_, body, _ := bytes.Cut(p, []byte("\n"))
		joined = append(joined, body...)
	}
	if !bytes.Equal(joined, whole) {
		t.Fatal("the parts together are not the journal that was written in one part")
	}
	records0 := all(t, must(fileOf(t, whole).Start()))
	for k := range parts {
		f := must(journal.OpenParts(sources(parts[k:]...)...))
		marks := must(f.Marks(1000 * time.Hour))
		if k == 0 {
			if diff := cmp.Diff(records0, all(t, must(f.Start())), records); diff != "" || len(marks) != len(wants) {
				t.Fatalf("all parts: %d checkpoints, %s", len(marks), diff)
			}
			continue
		}
		first := len(wants) - len(marks)
		if (first+1)%3 != 0 {
			t.Fatalf("part %d: %d checkpoints of %d", k+1, len(marks), len(wants))
		}
		r, c, err := f.From(marks[0])
		if err != nil || c.At != wants[first].at {
			t.Fatalf("part %d: %v at %v, want %v", k+1, err, c.At, wants[first].at)
		}
		rest := records0[len(records0)-wants[first].after:]
		if diff := cmp.Diff(rest, all(t, r), records); diff != "" {
			t.Errorf("part %d from its checkpoint: %s", k+1, diff)
		}
		given := all(t, must(f.Start()))
		given, follows := given[:len(given)-len(rest)], given[len(given)-len(rest):]
		if diff := cmp.Diff(rest, follows, records); diff != "" {
			t.Errorf("part %d: %s", k+1, diff)
		}
		checkGiven(t, given, &wants[first])
		alone := must(journal.NewReader(bytes.NewReader(parts[k])))
		if _, err := alone.Checkpoint(); err != nil || alone.Header().From == 0 {
			t.Errorf("part %d alone: from %d, %v", k+1, alone.Header().From, err)
		}
	}
}

// checkGiven compares what comes before the records of a part with what its checkpoint should say.
func checkGiven(t *testing.T, given []journal.Record, w *want) {
	t.Helper()
	var got []scheduler.Restored
	said := 0
	for _, rec := range given {
		switch ev := rec.Event.(type) {
		case scheduler.Restored:
			got = append(got, ev)
		case nil:
			for _, c := range rec.Round.Changed {
				if said++; cmp.Diff(w.recorded[c.Job], c.Decision) != "" {
					t.Errorf("said of %s: %v, want %v", c.Job, c.Decision, w.recorded[c.Job])
				}
			}
		}
		if rec.At != w.at {
			t.Errorf("given at %v, want %v", rec.At, w.at)
		}
	}
	if diff := cmp.Diff(w.jobs, got); diff != "" || said != len(w.recorded) {
		t.Errorf("%d decisions of %d; jobs: %s", said, len(w.recorded), diff)
	}
}

// TestOpenParts_refuses: a part that is missing, of another run, cut short or changed is found.
func TestOpenParts_refuses(t *testing.T) {
	parts := partsOf(t, 3)
	for what, c := range map[string]struct {
		parts [][]byte
		want  string
	}{
		"missing":     {[][]byte{parts[0], parts[2]}, "a part is missing or was changed"},
		"exchanged":   {[][]byte{parts[1], parts[0]}, "a part is missing or was changed"},
		"cut":         {[][]byte{parts[0][:len(parts[0])-9], parts[1]}, "a part is missing or was changed"},
		"other run":   {[][]byte{parts[0], bytes.Replace(slices.Clone(parts[1]), []byte(`"start":"2000`), []byte(`"start":"2001`), 1)}, "changed after it was written"},
		"changed":     {[][]byte{bytes.Replace(slices.Clone(parts[1]), []byte(`"gpus":4`), []byte(`"gpus":5`), 1)}, "changed after it was written"},
		"none":        {nil, "no parts"},
		"only a head": {[][]byte{parts[1][:bytes.IndexByte(parts[1], '\n')+1]}, "has no end"},
		"half a head": {[][]byte{parts[1][:bytes.IndexByte(parts[1], '\n')+100]}, "has no end"},
	} {
		if _, err := journal.OpenParts(sources(c.parts...)...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", what, err, c.want)
		}
	}
	spoiled := slices.Clone(parts[1])
	spoiled[len(spoiled)-200] ^= 1
	f := must(journal.OpenParts(sources(spoiled, parts[2])...))
	r := must(f.Start())
	var err error
	for err == nil {
		_, err = r.Read()
	}
	if errors.Is(err, io.EOF) || !errors.Is(err, journal.ErrChanged) {
		t.Errorf("a changed line: %v", err)
	}
}

// TestFile_Jobs: the jobs that begin in a journal, or in what is left of it, are those that its records submit or restore, also
// where other lines are damaged.
func TestFile_Jobs(t *testing.T) {
	parts := partsOf(t, 3)
	for k := range parts {
		f := must(journal.OpenParts(sources(parts[k:]...)...))
		var want []job.ID
		for rec, err := range must(f.Start()).Records() {
			if err != nil && !errors.Is(err, journal.ErrTruncated) {
				t.Fatal(err)
			}
			switch ev := rec.Event.(type) {
			case scheduler.Submitted:
				want = append(want, ev.Spec.ID)
			case scheduler.Restored:
				want = append(want, ev.Spec.ID)
			}
		}
		if got := must(f.Jobs()); len(got) == 0 || !slices.Equal(got, want) {
			t.Errorf("parts from %d on: jobs %v, want %v", k, got, want)
		}
	}
	whole, _ := kept(t, false)
	want := must(fileOf(t, whole).Jobs())
	damaged := bytes.Clone(whole)
	_, inRound, _ := bytes.Cut(damaged, []byte(`"round":{`))
	copy(inRound, "####")
	if got := must(fileOf(t, damaged).Jobs()); !slices.Equal(got, want) {
		t.Errorf("with a damaged round: jobs %v, want %v", got, want)
	}
}
