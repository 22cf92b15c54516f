package journal

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"time"
)

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
