package journal_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/scheduler/journal"
)

// The parts of a file between its checkpoints hold all its records once. The first part has no checkpoint, the others
// begin at theirs.
func TestFile_Part(t *testing.T) {
	text, _ := kept(t, false)
	f := fileOf(t, text)
	whole := all(t, must(f.Start()))
	marks := must(f.Marks(1000 * time.Hour))
	marks = []journal.Mark{marks[0], marks[len(marks)/2]}
	end := must(f.End(1000 * time.Hour))
	var got []journal.Record
	for i, from := range append([]journal.Mark{f.Body()}, marks...) {
		to := append(marks, end)[i]
		r, c, err := f.Part(from, to)
		if err != nil || (c != nil) != (i > 0) || c != nil && c.At != from.At {
			t.Fatalf("part %d: checkpoint %v, %v", i, c, err)
		}
		for rec, err := range r.Records() {
			if err != nil {
				break // the part has no end of its own
			}
			rec.Line = 0
			got = append(got, rec)
		}
	}
	if diff := cmp.Diff(whole, got, records); diff != "" {
		t.Errorf("the parts hold other records: %s", diff)
	}
}
