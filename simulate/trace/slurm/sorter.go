package slurm

import (
	"container/heap"
	"encoding/binary"
	"fmt"
	"io"
	"slices"

	"github.com/oxgang/oxgang/simulate/trace/parse"
)

// A sorter sorts runs of which only some are in memory: each page is sorted and goes to a place
// outside, and the pages are merged when the runs are read. The first error ends it.
//
// It is an external merge sort: Knuth, The Art of Computer Programming, vol. 3, §5.4.
type sorter struct {
	compare func(a, b *run) int
	open    func() (parse.Spill, error) // nil: everything stays in memory
	page    []run
	most    int // runs of a page
	out     parse.Spill
	size    int64
	parts   []part
	err     error
	order   []uint32 // scratch: of the page
	block   []byte   // scratch
}

// A part is a page outside: from where to where.
type part struct{ from, to int64 }

// pageRuns is how many runs are in memory before they go outside.
const pageRuns = 1 << 16

// add takes a run.
func (s *sorter) add(r *run) {
	if len(s.page) == s.most && s.open != nil {
		s.spill()
	}
	s.page = append(s.page, *r)
}

// spill sorts the page and writes it outside.
func (s *sorter) spill() {
	if s.out == nil && s.err == nil {
		s.out, s.err = s.open()
	}
	from := s.size
	for rest := s.sorted(); len(rest) > 0 && s.err == nil; {
		rest = s.write(rest)
	}
	s.parts = append(s.parts, part{from, s.size})
	s.page = s.page[:0]
}

// sorted returns the order of the page's runs.
func (s *sorter) sorted() []uint32 {
	s.order = s.order[:0]
	for i := range s.page {
		s.order = append(s.order, uint32(i))
	}
	slices.SortFunc(s.order, func(a, b uint32) int { return s.compare(&s.page[a], &s.page[b]) })
	return s.order
}

// blockBytes is about how much of a part is in memory while it is merged.
const blockBytes = 1 << 14

// write writes a block of runs, its length first, and returns the others.
func (s *sorter) write(order []uint32) []uint32 {
	b, last := slices.Grow(s.block[:0], blockBytes)[:4], new(run)
	for len(order) > 0 && len(b) < blockBytes {
		r := &s.page[order[0]]
		b = r.append(b, last)
		last, order = r, order[1:]
	}
	binary.LittleEndian.PutUint32(b, uint32(len(b)-4))
	_, s.err = s.out.WriteAt(b, s.size)
	s.size += int64(len(b))
	s.block = b
	return order
}

// each calls do with all runs in order until it says no, and gives the place outside back. The
// sorter is empty afterwards. Runs that do is given are its own only until it returns.
func (s *sorter) each(do func(*run) bool) error {
	defer s.close()
	if s.out == nil && s.err == nil {
		for _, i := range s.sorted() {
			if !do(&s.page[i]) {
				break
			}
		}
		return nil
	}
	if s.err == nil && len(s.page) > 0 {
		s.spill()
	}
	s.page = nil
	if s.err == nil {
		s.merge(do)
	}
	if s.err != nil {
		return fmt.Errorf("slurm: what does not fit into memory: %w", s.err)
	}
	return nil
}

func (s *sorter) close() {
	if s.out != nil {
		if err := s.out.Close(); s.err == nil {
			s.err = err
		}
	}
	s.out, s.page, s.parts = nil, nil, nil
}

// merge goes through all parts at once.
func (s *sorter) merge(do func(*run) bool) {
	m := &merged{compare: s.compare}
	for _, p := range s.parts {
		c := &cursor{in: s.out, part: p}
		if c.next(&s.err) {
			m.all = append(m.all, c)
		}
	}
	heap.Init(m)
	for len(m.all) > 0 && s.err == nil {
		c := m.all[0]
		if !do(&c.run) {
			return
		}
		if c.next(&s.err) {
			heap.Fix(m, 0)
		} else {
			heap.Pop(m)
		}
	}
}

// merged is a heap of parts by their next runs.
type merged struct {
	all     []*cursor
	compare func(a, b *run) int
}

// Len implements heap.Interface.
func (m *merged) Len() int { return len(m.all) }

// Less implements heap.Interface: the part whose next run comes first is the least.
func (m *merged) Less(i, k int) bool { return m.compare(&m.all[i].run, &m.all[k].run) < 0 }

// Swap implements heap.Interface.
func (m *merged) Swap(i, k int) { m.all[i], m.all[k] = m.all[k], m.all[i] }

// Push implements heap.Interface. Nothing is pushed: all parts are there from the start.
func (m *merged) Push(any) {}

// Pop implements heap.Interface.
func (m *merged) Pop() any {
	m.all = m.all[:len(m.all)-1]
	return nil
}

// A cursor reads a part, run by run.
type cursor struct {
	in    io.ReaderAt
	part  part
	block []byte
	left  []byte // of block
	run   run
}

// next reads the next run, and reports whether there was one.
func (c *cursor) next(err *error) bool {
	if len(c.left) == 0 {
		if c.part.from >= c.part.to || !c.load(err) {
			return false
		}
		c.run = run{}
	}
	c.left = c.run.read(c.left)
	return true
}

// load reads the next block.
func (c *cursor) load(err *error) bool {
	var length [4]byte
	if _, e := c.in.ReadAt(length[:], c.part.from); e != nil {
		*err = e
		return false
	}
	n := int(binary.LittleEndian.Uint32(length[:]))
	c.block = slices.Grow(c.block[:0], n)[:n]
	if got, e := c.in.ReadAt(c.block, c.part.from+4); got < n { // of the last block the end of the file is no error
		*err = e
		return false
	}
	c.part.from += int64(4 + n)
	c.left = c.block
	return true
}
