package journal

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
)

// Before reports whether position m is before position n.
func (m Mark) Before(n Mark) bool { return m.offset < n.offset }

// Body returns the position of the first record, after the header.
func (f *File) Body() Mark { return Mark{0, f.body} }

// A Named is a record that mentions the job of a Naming, with the record's position in the file.
type Named struct {
	Record
	offset int64
}

// In reports whether the record is between two positions.
func (r *Named) In(from, to Mark) bool { return r.offset >= from.offset && r.offset < to.offset }

// A Last describes the end of a journal.
type Last struct {
	At  time.Duration // time of the last complete record
	End Mark          // position of the end of the file
	Cut bool          // whether the last line is incomplete
}

// Last returns where and when the journal ends.
func (f *File) Last() (Last, error) {
	l := Last{End: Mark{0, f.size}, Cut: true}
	line, err := f.lineOf(f.size - 1)
	if err != nil {
		return l, err
	}
	tail := make([]byte, min(f.size-line, 64))
	if _, err := f.src.ReadAt(tail, line); err != nil && !errors.Is(err, io.EOF) {
		return l, fmt.Errorf("journal: %w", err)
	}
	l.At, _, err = timeIn(tail)
	l.Cut = !bytes.Contains(tail, []byte(`,"end":true`))
	return l, err
}

// Part returns a Reader of the records between positions from and to, and the checkpoint at from (nil if from is Body).
// At the end of these records, the Reader returns ErrTruncated.
func (f *File) Part(from, to Mark) (*Reader, *Checkpoint, error) {
	some := *f
	some.length, some.size = to.offset, to.offset
	if from.offset == f.body && f.header.From == 0 {
		r, err := some.Start()
		return r, nil, err
	}
	return some.From(from)
}

// A Naming collects the records of a journal that mention one job. It does not decode other records and does not check
// hashes.
type Naming struct {
	f     *File
	id    job.ID
	name  []byte
	lines []line
	// all has the records of the first read lines; known is the state after them.
	all   []Named
	read  int
	known map[job.ID]policy.Decision
	seen  map[string]string
}

type line struct {
	text   []byte
	offset int64
}

// Naming returns a Naming for a job, without records.
func (f *File) Naming(id job.ID) *Naming {
	var e encoder
	e.str(string(id))
	return &Naming{f: f, id: id, name: e.buf}
}

// Append adds the records between positions from and to at the end of the collection.
func (n *Naming) Append(from, to Mark) error {
	lines, err := n.find(from, to)
	n.lines = append(n.lines, lines...)
	return err
}

// Prepend adds the records between positions from and to at the start of the collection, and reports whether one of
// them submits or restores the job.
func (n *Naming) Prepend(from, to Mark) (bool, error) {
	lines, err := n.find(from, to)
	n.lines = append(lines, n.lines...)
	n.all, n.read, n.known = nil, 0, nil
	return slices.ContainsFunc(lines, func(l line) bool {
		_, rest, _ := bytes.Cut(l.text, []byte(","))
		return begins(rest, submitKey, n.name) || begins(rest, restoreKey, n.name)
	}), err
}

func begins(text []byte, key string, name []byte) bool {
	rest, ok := bytes.CutPrefix(text, []byte(key))
	return ok && bytes.HasPrefix(rest, name)
}

func (n *Naming) find(from, to Mark) ([]line, error) {
	var all []line
	src := bufio.NewReaderSize(io.NewSectionReader(n.f.src, from.offset, to.offset-from.offset), 1<<18)
	r := &Reader{src: src, header: n.f.header, offset: max(1, from.offset)}
	at := from.offset
	for {
		text, whole, err := r.next()
		if errors.Is(err, io.EOF) || err == nil && !whole {
			return all, nil
		}
		if err != nil {
			return nil, r.place(err)
		}
		if bytes.Contains(text, n.name) && !isCheckpoint(text) {
			all = append(all, line{bytes.Clone(text), at})
		}
		at += int64(len(text)) + 1
	}
}

// Records returns the collected records, in order, without records about nodes and without the decisions on other jobs.
func (n *Naming) Records() ([]Named, error) {
	if n.known == nil {
		n.known = map[job.ID]policy.Decision{}
	}
	for _, l := range n.lines[n.read:] {
		n.read++
		_, rest, _ := bytes.Cut(l.text, []byte(","))
		if bytes.HasPrefix(rest, []byte(`"nodes":`)) {
			continue
		}
		dec := decoder{in: cursor{buf: unsealed(l.text), seen: n.seen}, only: n.name}
		rec := dec.record(n.known)
		if n.seen = dec.in.seen; dec.in.err != nil {
			return nil, fmt.Errorf("journal: line at byte %d: %w", l.offset, dec.in.err)
		}
		n.all = append(n.all, Named{rec, l.offset})
	}
	return n.all, nil
}

// Jobs returns the IDs of all jobs in the journal, in order. It decodes only the names of jobs and does not check
// hashes.
func (f *File) Jobs() ([]job.ID, error) {
	all, err := f.beginning()
	if err != nil {
		return nil, err
	}
	src := bufio.NewReaderSize(io.NewSectionReader(f.src, f.body, f.size-f.body), 1<<18)
	r := &Reader{src: src, header: f.header, offset: max(1, f.body)}
	for {
		text, whole, err := r.next()
		if errors.Is(err, io.EOF) || err == nil && !whole {
			return all, nil
		}
		if err != nil {
			return nil, r.place(err)
		}
		if id, ok := begun(text); ok {
			all = append(all, id)
		}
	}
}

func (f *File) beginning() ([]job.ID, error) {
	if f.header.From == 0 {
		return nil, nil
	}
	r, err := f.Start()
	if err != nil {
		return nil, err
	}
	c, err := r.Checkpoint()
	if err != nil || c == nil {
		return nil, err
	}
	var all []job.ID
	for i := range c.Jobs {
		all = append(all, c.Jobs[i].Spec.ID)
	}
	return all, nil
}

func begun(line []byte) (job.ID, bool) {
	_, rest, _ := bytes.Cut(line, []byte(","))
	for _, key := range []string{submitKey, restoreKey} {
		if name, ok := bytes.CutPrefix(rest, []byte(key)); ok {
			c := cursor{buf: name}
			id := c.str()
			return job.ID(id), c.err == nil
		}
	}
	return "", false
}

// submitKey and restoreKey follow the time in the line of a job that is submitted or restored.
const (
	submitKey  = `"submit":{"id":`
	restoreKey = `"restore":{"spec":{"id":`
)
