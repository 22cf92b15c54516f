package journal

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/scheduler"
)

// Part continues the journal in another file, out: it writes the header and a checkpoint. Call it directly after a
// round. m and memory are as in Checkpoint. It returns the first error since the Writer was made.
func (w *Writer) Part(out io.Writer, now time.Time, m *scheduler.Memory, memory []byte) error {
	if err := w.Flush(); err != nil {
		return err
	}
	head := w.head
	head.From = w.size
	var e encoder
	e.json(head.line())
	if e.err != nil {
		w.err = fmt.Errorf("journal: header: %w", e.err)
		return w.err
	}
	own := newChain()
	w.w = bufio.NewWriterSize(out, 1<<16)
	if _, err := w.w.Write(own.seal(e.buf)); err != nil {
		w.err = fmt.Errorf("journal: write: %w", err)
		return w.err
	}
	w.Checkpoint(now, m, memory)
	return w.Flush()
}

func (r *Reader) beginPart() error {
	if r.header.From == 0 {
		return nil
	}
	if err := r.resume(); err != nil {
		return err
	}
	c, err := r.Checkpoint()
	if err == nil {
		r.pending = c.records(&r.header, r.line)
	}
	return err
}

func (c *Checkpoint) records(h *Header, line int) []Record {
	var all []Record
	add := func(rec Record) {
		rec.Line, rec.At = line, c.At
		all = append(all, rec)
	}
	if n := &c.Nodes; len(n.Rentals)+len(n.Loans) > 0 || !slices.Equal(n.Cluster.Nodes(), h.Cluster.Held().Nodes()) {
		add(Record{Event: c.Nodes})
	}
	last := &Round{Prices: c.Prices, Capacity: c.Capacity, Refused: c.Refused}
	for i := range c.Jobs {
		j := &c.Jobs[i]
		add(Record{Event: j.Restored})
		if j.Decision != nil {
			last.Changed = append(last.Changed, Change{j.Spec.ID, *j.Decision})
		}
	}
	if len(last.Changed) > 0 {
		add(Record{Round: last})
	}
	return all
}

// A Source is one file of a journal, which may have several parts.
type Source struct {
	io.ReaderAt
	Size int64
}

// OpenParts opens a journal that consists of several files, given in order. The first files may be missing, for example
// because they were deleted.
func OpenParts(sources ...Source) (*File, error) {
	if len(sources) == 0 {
		return nil, errors.New("journal: no parts, want one")
	}
	var all joined
	var before *File
	for i, s := range sources {
		f, err := OpenFile(s, s.Size)
		if err != nil {
			return nil, fmt.Errorf("part %d: %w", i+1, err)
		}
		if before == nil {
			all.add(s, s.Size)
		} else {
			if err := follows(before, f); err != nil {
				return nil, fmt.Errorf("part %d: %w", i+1, err)
			}
			all.add(s, s.Size-f.body)
		}
		before = f
	}
	return OpenFile(&all, all.size)
}

func follows(a, b *File) error {
	switch end := a.base + a.size; {
	case !a.header.Start.Equal(b.header.Start) || a.header.Policy != b.header.Policy:
		return fmt.Errorf("journal: part of another run: began at %v, want %v", b.header.Start, a.header.Start)
	case b.header.From != end:
		return fmt.Errorf("journal: begins at byte %d of the journal, want %d: a part is missing or was changed", b.header.From, end)
	}
	return nil
}

type joined struct {
	parts []Source
	ends  []int64 // offset in the whole at which each ends; a longer file lacks its first bytes
	size  int64
}

func (j *joined) add(s Source, last int64) {
	j.parts = append(j.parts, s)
	j.size += last
	j.ends = append(j.ends, j.size)
}

func (j *joined) ReadAt(p []byte, at int64) (n int, err error) {
	for n < len(p) {
		i := sort.Search(len(j.ends), func(i int) bool { return j.ends[i] > at })
		if i == len(j.ends) {
			return n, io.EOF
		}
		most := min(int64(len(p)-n), j.ends[i]-at)
		place := at - j.ends[i] + j.parts[i].Size
		got, err := j.parts[i].ReadAt(p[n:n+int(most)], place)
		n, at = n+got, at+int64(got)
		if int64(got) < most {
			return n, err
		}
	}
	return n, nil
}

type loanLine struct {
	Node     nodeLine  `json:"node"`
	Nodes    int       `json:"nodes"`
	Lent     int       `json:"lent,omitzero"`
	Spare    int       `json:"spare,omitzero"`
	Reclaim  int       `json:"reclaim,omitzero"`
	By       time.Time `json:"by,omitzero"`
	Load     float64   `json:"load,omitzero"`
	Expected []int     `json:"expected,omitempty"`
	Every    Seconds   `json:"every,omitzero"`
}

func loanLines(all []cluster.Loan) []loanLine {
	lines := make([]loanLine, len(all))
	for i := range all {
		l := &all[i]
		lines[i] = loanLine{makeNodeLine(&l.Node), l.Nodes, l.Lent, l.Spare, l.Reclaim, l.By, l.Load, l.Expected, Seconds(l.Every)}
	}
	return lines
}

func makeLoans(lines []loanLine) ([]cluster.Loan, error) {
	all := make([]cluster.Loan, len(lines))
	kinds := make([]nodeLine, len(lines))
	for i := range lines {
		l := &lines[i]
		for _, n := range append([]int{l.Nodes, l.Lent, l.Spare, l.Reclaim}, l.Expected...) {
			if n < 0 || n > maxGPUs {
				return nil, fmt.Errorf("group %q: %d nodes, want 0 to %d", l.Node.Group, n, maxGPUs)
			}
		}
		if !(l.Load >= 0 && l.Load <= 1) {
			return nil, fmt.Errorf("group %q: a load of %g, want 0 to 1", l.Node.Group, l.Load)
		}
		all[i] = cluster.Loan{
			Group: l.Node.Group, Node: l.Node.node(), Nodes: l.Nodes, Lent: l.Lent, Spare: l.Spare,
			Reclaim: l.Reclaim, By: l.By, Load: l.Load, Expected: l.Expected, Every: time.Duration(l.Every),
		}
		kinds[i] = l.Node
		kinds[i].ID = cluster.NodeID("group " + string(l.Node.Group))
	}
	_, err := makeCluster(kinds)
	return all, err
}
