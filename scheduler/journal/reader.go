package journal

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
)

// ErrTruncated is returned for a journal without its last line: its run crashed or is still writing. In format version
// 1, a cut between two lines is not detected.
var ErrTruncated = errors.New("the journal has no end: its run crashed or still writes")

// maxLine limits a line, in bytes: a round with a few hundred thousand changed jobs.
const maxLine = 64 << 20

// A Reader reads a journal record by record. If the journal has hashes (Sealed), it checks the hash of each line.
type Reader struct {
	src     *bufio.Reader
	buffer  []byte // for lines longer than the buffer of src
	header  Header
	sealed  bool
	chain   chain
	cur     decoder
	known   map[job.ID]policy.Decision
	line    int
	offset  int64 // of line 0; 0: the header
	last    time.Duration
	err     error
	pending []Record // the checkpoint of a part as records, not returned yet
	// Of the last checkpoint; nil: there was none.
	passed []byte
	at     time.Duration
	first  *Checkpoint // the one that the Reader began at, until Checkpoint returns it; nil: none
}

// NewReader reads the header of a journal and returns a Reader of its records.
func NewReader(r io.Reader) (*Reader, error) {
	j := &Reader{src: bufio.NewReaderSize(r, 1<<16), chain: newChain(), known: map[job.ID]policy.Decision{}}
	text, whole, err := j.next()
	if errors.Is(err, io.EOF) {
		return nil, errors.New("journal: empty, want a header")
	}
	if err != nil {
		return nil, j.place(err)
	}
	if err := j.begin(text); err != nil {
		if !whole {
			err = ErrTruncated
		}
		return nil, j.place(err)
	}
	return j, j.beginPart()
}

func (r *Reader) begin(text []byte) error {
	version, err := parseVersion(text)
	if err != nil {
		return err
	}
	if r.sealed = version > 1; r.sealed {
		if text, err = r.chain.open(text); err != nil {
			return fmt.Errorf("%w; restore the file", err)
		}
	}
	r.header, err = parseHeader(text)
	return err
}

// Sealed reports whether the lines have hashes, which reveal changes. Format version 1 has none.
func (r *Reader) Sealed() bool { return r.sealed }

// Header returns the first line of the journal.
func (r *Reader) Header() Header { return r.header }

// Records returns an iterator over the remaining records. The first error ends the sequence and names the line. It
// wraps ErrTruncated if the journal ends early, and ErrChanged if the line was changed.
func (r *Reader) Records() iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		for {
			rec, err := r.Read()
			if errors.Is(err, io.EOF) || !yield(rec, err) || err != nil {
				return
			}
		}
	}
}

// Read returns the next record, or io.EOF after the last one. After any other error, all later calls return this error.
// Read skips checkpoints, except the checkpoint at the start of a part, whose state it returns as records.
func (r *Reader) Read() (Record, error) {
	if len(r.pending) > 0 {
		rec := r.pending[0]
		r.pending = r.pending[1:]
		return rec, nil
	}
	for {
		rec, err := r.read()
		if err != nil || rec.Event != nil || rec.Round != nil {
			return rec, err
		}
		r.passed, r.at, r.first = bytes.Clone(r.cur.passed), rec.At, nil
	}
}

func (r *Reader) read() (Record, error) {
	if r.err != nil {
		return Record{}, r.err
	}
	var rec Record
	text, whole, err := r.next()
	if err == nil {
		rec, err = r.record(text)
	}
	switch {
	case errors.Is(err, io.EOF):
		r.err = r.over()
	case err != nil && text != nil && !whole:
		r.err = r.place(ErrTruncated)
	case err != nil:
		r.err = r.place(err)
	case r.cur.ended:
		r.err = r.finish()
	}
	if r.err != nil {
		return Record{}, r.err
	}
	return rec, nil
}

// Line returns the number of the line that was read last; the header is line 1.
func (r *Reader) Line() int { return r.line }

func (r *Reader) record(text []byte) (rec Record, err error) {
	if r.sealed {
		if text, err = r.chain.open(text); err != nil {
			return Record{}, fmt.Errorf("%w; %s", err, r.remedy())
		}
	}
	r.cur = decoder{in: cursor{buf: text, seen: r.cur.in.seen}, there: r.cur.there, wants: r.cur.wants}
	rec = r.cur.record(r.known)
	rec.Line = r.line
	if r.cur.in.err != nil {
		return Record{}, r.cur.in.err
	}
	if rec.At < r.last {
		return Record{}, fmt.Errorf("time goes back from %v to %v", r.last, rec.At)
	}
	r.last = rec.At
	return rec, nil
}

func (r *Reader) remedy() string {
	if r.offset > 0 {
		return "restore the file"
	}
	return fmt.Sprintf("restore the file, or read its first %d lines, which are intact", r.line-1)
}

func (r *Reader) over() error {
	if r.sealed {
		return r.place(ErrTruncated)
	}
	return io.EOF
}

func (r *Reader) finish() error {
	switch _, _, err := r.next(); {
	case errors.Is(err, io.EOF):
		return io.EOF
	case err != nil:
		return r.place(err)
	}
	return r.place(fmt.Errorf("%w: a line after the end, want none; %s", ErrChanged, r.remedy()))
}

func (r *Reader) place(err error) error {
	if r.offset > 0 {
		return fmt.Errorf("journal: line %d from byte %d on: %w", r.line, r.offset, err)
	}
	return fmt.Errorf("journal: line %d: %w", r.line, err)
}

// next returns the next line, valid until the next call, and whether it ends in a line feed.
func (r *Reader) next() (text []byte, whole bool, err error) {
	r.line++
	text, err = r.src.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		text, err = r.long(append(r.buffer[:0], text...))
		r.buffer = text
	}
	switch {
	case err == nil:
		return text[:len(text)-1], true, nil
	case !errors.Is(err, io.EOF):
		return nil, false, err
	case len(text) == 0:
		return nil, false, io.EOF
	}
	return text, false, nil
}

func (r *Reader) long(text []byte) ([]byte, error) {
	for len(text) <= maxLine {
		more, err := r.src.ReadSlice('\n')
		text = append(text, more...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return text, err
		}
	}
	return nil, fmt.Errorf("more than %d bytes, want shorter lines", maxLine)
}

// Show passes the remaining records to observer o. In the snapshots of rounds, Jobs has the right length, but only nil
// entries; plans have no decisions.
func (r *Reader) Show(o scheduler.Observer) error {
	h := r.Header()
	s := policy.Snapshot{Length: h.Round, Cluster: h.Cluster.Held(), Rentals: h.Cluster.Rentals(), Loans: h.Cluster.Loans()}
	active := map[job.ID]bool{}
	for {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		s.Now = h.Start.Add(record.At)
		if round := record.Round; round != nil {
			now := s
			now.Round, now.Jobs = round.Number, make([]*policy.Job, len(active))
			o.Round(&now, &policy.Plan{Prices: round.Prices, Stats: round.Stats, Capacity: round.Capacity, Refused: round.Refused}, round.Actions)
			continue
		}
		follow(&s, active, record.Event)
		o.Event(s.Now, record.Event)
	}
}

func follow(s *policy.Snapshot, active map[job.ID]bool, ev scheduler.Event) {
	switch ev := ev.(type) {
	case scheduler.Submitted:
		active[ev.Spec.ID] = true
	case scheduler.Restored:
		if !ev.Status.Phase.Terminal() {
			active[ev.Spec.ID] = true
		}
	case scheduler.Exited:
		if ev.Outcome != scheduler.Lost {
			delete(active, ev.Job)
		}
	case scheduler.NodesChanged:
		s.Cluster, s.Rentals, s.Loans = ev.Cluster, ev.Rentals, ev.Loans
	}
}

// A Record is one line of a journal after its header: an event or a round.
type Record struct {
	Line  int             // number of the line, from 1
	At    time.Duration   // time since Header.Start
	Event scheduler.Event // nil if the line is a Round
	Round *Round          // nil if the line is an Event
}

// A Round has the decisions of a round that differ from the decisions of the round before.
type Round struct {
	Number  int
	Changed []Change // in the order of the snapshot
	Left    []job.ID // jobs of the last round that are missing in this one
	Prices  []policy.TypePrice
	// Capacity is policy.Plan.Capacity; nil in format 1. Rounds share it: do not modify it.
	Capacity map[cluster.Group]int
	Refused  string // why the policy's plan was refused, if it was
	Stats    policy.Stats
	Actions  []scheduler.Action
}

// A Change is the new decision about one job.
type Change struct {
	Job job.ID
	policy.Decision
}
