package journal

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"time"

	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/policy"
)

// ErrTruncated says that a journal ends within a line, as after a crash. What
// came before it is good.
var ErrTruncated = errors.New("the journal ends within a line")

// maxLine bounds a line, in bytes: a round in which a few hundred thousand
// jobs change.
const maxLine = 64 << 20

// A Reader streams a journal.
type Reader struct {
	src    *bufio.Reader
	header Header
	cur    cursor
	known  map[job.ID]policy.Decision
	line   int
	last   time.Duration
	err    error
}

// NewReader returns a Reader that has read the header. It returns an error if
// there is none, or one of another version.
func NewReader(r io.Reader) (*Reader, error) {
	j := &Reader{src: bufio.NewReaderSize(r, 1<<16), known: map[job.ID]policy.Decision{}}
	text, whole, err := j.next()
	if errors.Is(err, io.EOF) {
		return nil, errors.New("journal: empty, want a header")
	}
	if err != nil {
		return nil, err
	}
	if j.header, err = parseHeader(text); err != nil {
		if !whole {
			err = ErrTruncated
		}
		return nil, j.at(err)
	}
	return j, nil
}

// Header returns the first line of the journal.
func (r *Reader) Header() Header { return r.header }

// Records yields the records from where the last call stopped. After an error,
// which comes with a zero Record, there is nothing more. Errors name the line,
// and wrap ErrTruncated if the journal was cut off there.
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

// Read returns the next record. It returns io.EOF after the last; after an
// error it returns that again.
func (r *Reader) Read() (Record, error) {
	if r.err != nil {
		return Record{}, r.err
	}
	text, whole, err := r.next()
	if err != nil {
		r.err = err
		return Record{}, err
	}
	r.cur = cursor{buf: text, seen: r.cur.seen, there: r.cur.there}
	rec := r.cur.record(r.known)
	rec.Line = r.line
	switch err := r.cur.err; {
	case err != nil && !whole:
		r.err = r.at(ErrTruncated)
	case err != nil:
		r.err = r.at(err)
	case rec.At < r.last:
		r.err = r.at(fmt.Errorf("time goes back from %v to %v", r.last, rec.At))
	}
	if r.err != nil {
		return Record{}, r.err
	}
	r.last = rec.At
	return rec, nil
}

func (r *Reader) at(err error) error { return fmt.Errorf("journal: line %d: %w", r.line, err) }

// next returns the next line, valid until the next call, and whether it is
// whole: ended by a line feed.
func (r *Reader) next() (text []byte, whole bool, err error) {
	r.line++
	text, err = r.src.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		text, err = r.long(bytes.Clone(text))
	}
	switch {
	case err == nil:
		return text[:len(text)-1], true, nil
	case !errors.Is(err, io.EOF):
		return nil, false, r.at(err)
	case len(text) == 0:
		return nil, false, io.EOF
	}
	return text, false, nil
}

// long reads on in a line that does not fit into the buffer.
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
