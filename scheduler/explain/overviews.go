package explain

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"
	"sync"
	"time"

	"github.com/oxgang/oxgang/scheduler/journal"
)

// Overviews computes the Overviews of one journal at different times. It caches the records between two checkpoints. It
// is safe for concurrent use.
type Overviews struct {
	File *journal.File

	mu      sync.Mutex
	last    time.Duration // of the journal; 0: not read yet
	marks   []journal.Mark
	current *stretch // nil: nothing was read yet
	most    int      // records; 0: maxRecords
}

const maxRecords = 200_000

type stretch struct {
	after   int // number of checkpoints before it
	reader  *journal.Reader
	from    *journal.Checkpoint // nil: the start of the journal
	records []journal.Record    // the last one may be later than needed
	ended   bool
	long    bool // more than the maximum; none is kept
}

// At returns the same Overview as OverviewIn.
func (o *Overviews) At(at time.Duration) (*Overview, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := o.open(); err != nil {
		return nil, fmt.Errorf("explain: %w", err)
	}
	at = min(max(at, 0), o.last)
	if err := o.move(at); err != nil {
		return nil, fmt.Errorf("explain: %w", err)
	}
	if o.current.long {
		return OverviewIn(o.File, at)
	}
	t := newOverviewReader(o.File.Header(), o.current.from)
	for i := range o.current.records {
		if rec := &o.current.records[i]; rec.At <= at {
			t.take(rec)
		}
	}
	s := t.overview(at)
	s.Last = journal.Seconds(o.last)
	return s, nil
}

func (o *Overviews) open() error {
	if o.last > 0 {
		return nil
	}
	last, err := o.File.Last()
	if err == nil {
		o.marks, err = o.File.Marks(last.At)
	}
	o.last = last.At
	return err
}

// move reads the stretch up to a time. Directly after a checkpoint it reads the stretch before, which has the last round.
func (o *Overviews) move(at time.Duration) error {
	n := sort.Search(len(o.marks), func(i int) bool { return o.marks[i].At > at })
	if err := o.moveTo(n, at); err != nil || n == 0 || o.current.decides(at) {
		return err
	}
	return o.moveTo(n-1, at)
}

func (o *Overviews) moveTo(n int, at time.Duration) error {
	if o.current == nil || o.current.after != n {
		before := at
		if n < len(o.marks) {
			before = min(at, o.marks[n].At-1)
		}
		r, err := o.File.Before(before)
		if err != nil {
			return err
		}
		c, err := r.Checkpoint()
		if err != nil {
			return err
		}
		o.current = &stretch{after: n, reader: r, from: c}
	}
	return o.current.read(at, cmp.Or(o.most, maxRecords))
}

func (k *stretch) decides(at time.Duration) bool {
	return k.long || slices.ContainsFunc(k.records, func(rec journal.Record) bool { return rec.Round != nil && rec.At <= at })
}

func (k *stretch) read(at time.Duration, most int) error {
	for !k.ended && !k.long && (len(k.records) == 0 || k.records[len(k.records)-1].At <= at) {
		rec, err := k.reader.Read()
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, journal.ErrTruncated):
			k.ended = true
		case err != nil:
			return err
		case len(k.records) == most:
			k.records, k.long = nil, true
		default:
			k.records = append(k.records, rec)
		}
	}
	return nil
}
