package journal

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"
	"time"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
)

// A File is a journal that can be read from any checkpoint. Hashes are checked only for lines that are read. It is safe
// for concurrent use.
type File struct {
	src    io.ReaderAt
	length int64
	size   int64 // of its complete lines
	header Header
	sealed bool  // lines have hashes
	body   int64 // offset of the line after the header
	base   int64 // added to an offset here, it gives the offset in the whole journal
}

// OpenFile opens a journal of size bytes.
func OpenFile(src io.ReaderAt, size int64) (*File, error) {
	f := &File{src: src, length: size, size: size}
	r, err := f.Start()
	if err != nil {
		return nil, err
	}
	f.header, f.sealed = r.Header(), r.Sealed()
	if f.body, err = f.next(0); err != nil {
		return nil, err
	}
	if f.header.From > 0 {
		f.base = f.header.From - f.body
	}
	f.size, err = f.lineOf(f.length)
	return f, err
}

// Header returns the first line of the journal.
func (f *File) Header() Header { return f.header }

// Start returns a Reader of the whole journal.
func (f *File) Start() (*Reader, error) { return NewReader(io.NewSectionReader(f.src, 0, f.length)) }

// Before returns a Reader that starts after the last checkpoint not later than t, or at the start of the journal if
// there is none.
func (f *File) Before(t time.Duration) (*Reader, error) {
	offset, err := f.last(t)
	if err != nil {
		return nil, err
	}
	if offset == 0 {
		return f.Start()
	}
	return f.from(offset)
}

func (f *File) from(offset int64) (*Reader, error) {
	r := &Reader{
		src: bufio.NewReaderSize(io.NewSectionReader(f.src, offset, f.size-offset), 1<<16), header: f.header, sealed: true,
		chain: newChain(), known: map[job.ID]policy.Decision{}, offset: offset,
	}
	return r, r.resume()
}

func (r *Reader) resume() error {
	text, whole, err := r.next()
	if errors.Is(err, io.EOF) || err == nil && !whole {
		err = ErrTruncated
	}
	if err != nil {
		return r.place(err)
	}
	if err := r.chain.resume(hashed(text)); err != nil {
		return r.place(fmt.Errorf("no checkpoint, want one: %w", err))
	}
	if text, err = r.chain.open(text); err != nil {
		return r.place(fmt.Errorf("%w; restore the file", err))
	}
	r.cur = decoder{in: cursor{buf: text}}
	rec := r.cur.record(r.known)
	if r.cur.in.err != nil {
		return r.place(r.cur.in.err)
	}
	r.passed, r.at, r.last = bytes.Clone(r.cur.passed), rec.At, rec.At
	p := decoder{in: cursor{buf: r.passed}}
	first := p.checkpoint(r.known)
	first.At = rec.At
	r.cur.there, r.cur.wants, r.first = p.there, p.wants, &first
	return p.in.err
}

// Checkpoint returns the last checkpoint that the Reader has read past, or nil.
func (r *Reader) Checkpoint() (*Checkpoint, error) {
	if r.passed == nil {
		return nil, nil
	}
	if first := r.first; first != nil && first.At == r.at {
		r.first = nil // the caller may change it
		return first, nil
	}
	dec := decoder{in: cursor{buf: r.passed}}
	p := dec.checkpoint(map[job.ID]policy.Decision{})
	if p.At = r.at; dec.in.err != nil {
		return nil, fmt.Errorf("journal: checkpoint at %v: %w", r.at, dec.in.err)
	}
	return &p, nil
}

func (f *File) last(at time.Duration) (int64, error) {
	if !f.sealed {
		return 0, nil
	}
	end, err := f.after(at)
	if err != nil {
		return 0, err
	}
	return f.findBack(end, []byte(","+checkpointKey+hashedKey))
}

// after returns the offset of the first line later than a time, or the size of the file. Unreadable lines count
// as earlier.
func (f *File) after(at time.Duration) (int64, error) {
	var failed error
	i := sort.Search(int(f.size-f.body), func(i int) bool {
		t, ok, err := f.timeOf(f.body + int64(i))
		if err != nil {
			failed = err
		}
		return !ok || t > at
	})
	if failed != nil {
		return 0, fmt.Errorf("journal: %w", failed)
	}
	return f.next(f.body + int64(i) - 1)
}

func (f *File) timeOf(offset int64) (at time.Duration, ok bool, err error) {
	start, err := f.next(offset - 1)
	if err != nil || start >= f.size {
		return 0, false, err
	}
	head := make([]byte, 64)
	n, err := f.src.ReadAt(head, start)
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, false, err
	}
	return timeIn(head[:n])
}

func timeIn(head []byte) (time.Duration, bool, error) {
	text, ok := bytes.CutPrefix(head, []byte(`{"t":`))
	end := bytes.IndexByte(text, ',')
	if !ok || end < 0 {
		return 0, true, nil
	}
	at, err := parseSeconds(string(text[:end]))
	if err != nil {
		return 0, true, nil //nolint:nilerr // the Reader that comes to the line says what is wrong
	}
	return at, true, nil
}

const window = 1 << 18

func (f *File) next(offset int64) (int64, error) {
	buf := make([]byte, 4<<10)
	for offset < f.size {
		n, err := f.src.ReadAt(buf[:min(int64(len(buf)), f.size-offset)], offset)
		if i := bytes.IndexByte(buf[:n], '\n'); i >= 0 {
			return offset + int64(i) + 1, nil
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, fmt.Errorf("journal: %w", err)
		}
		if n == 0 {
			break
		}
		offset += int64(n)
		if len(buf) < window {
			buf = make([]byte, window)
		}
	}
	return f.size, nil
}

func (f *File) findBack(end int64, text []byte) (int64, error) {
	buf := make([]byte, window+len(text))
	for end > f.body {
		start := max(f.body, end-window)
		part := buf[:min(end+int64(len(text)), f.size)-start]
		if _, err := f.src.ReadAt(part, start); err != nil && !errors.Is(err, io.EOF) {
			return 0, fmt.Errorf("journal: %w", err)
		}
		if i := bytes.LastIndex(part[:min(len(part), int(end-start)+len(text)-1)], text); i >= 0 {
			return f.lineOf(start + int64(i))
		}
		end = start
	}
	return 0, nil
}

func (f *File) lineOf(offset int64) (int64, error) {
	buf := make([]byte, window)
	for offset > f.body {
		start := max(f.body, offset-window)
		part := buf[:offset-start]
		if _, err := f.src.ReadAt(part, start); err != nil && !errors.Is(err, io.EOF) {
			return 0, fmt.Errorf("journal: %w", err)
		}
		if i := bytes.LastIndexByte(part, '\n'); i >= 0 {
			return start + int64(i) + 1, nil
		}
		offset = start
	}
	return f.body, nil
}

// A Mark is a position in a File, usually the position of a checkpoint.
type Mark struct {
	At     time.Duration // time since Header.Start
	offset int64
}

// Marks returns the positions of the checkpoints not later than t, in order.
func (f *File) Marks(t time.Duration) ([]Mark, error) {
	offset, err := f.last(t)
	var all []Mark
	for err == nil && offset > 0 {
		var m Mark
		var back int64
		if m, back, err = f.mark(offset); err == nil {
			all = append(all, m)
			offset = back
		}
	}
	slices.Reverse(all)
	return all, err
}

func (f *File) mark(offset int64) (m Mark, back int64, err error) {
	head := make([]byte, 320)
	n, err := f.src.ReadAt(head, offset)
	if err != nil && !errors.Is(err, io.EOF) {
		return m, 0, fmt.Errorf("journal: %w", err)
	}
	c := cursor{buf: head[:n]}
	c.want('{')
	c.name("t")
	m = Mark{c.seconds(), offset}
	c.want(',')
	c.name("checkpoint")
	c.want('{')
	c.name("hashed")
	c.str()
	c.want(',')
	c.name("back")
	if back = c.count(offset + f.base); c.err == nil && back == offset+f.base {
		c.fail("an earlier checkpoint")
	}
	if c.err != nil {
		return m, 0, fmt.Errorf("journal: checkpoint at byte %d: %w", offset, c.err)
	}
	if back -= f.base; back < f.body { // there is none, or it is in a part that is not here
		back = 0
	}
	return m, back, nil
}

// From returns the checkpoint at position m, and a Reader that starts after it.
func (f *File) From(m Mark) (*Reader, *Checkpoint, error) {
	r, err := f.from(m.offset)
	if err != nil {
		return nil, nil, err
	}
	c, err := r.Checkpoint()
	return r, c, err
}

// End returns the position of the first line later than t, or the end of the file.
func (f *File) End(t time.Duration) (Mark, error) {
	offset, err := f.after(t)
	return Mark{t, offset}, err
}
