package slurm

import (
	"cmp"
	"encoding/binary"
	"math/bits"
	"slices"
)

// A run is one row: one run of a job.
type run struct {
	id                      key
	submit, eligible, start uint32 // seconds since 1970; eligible is not before submit; start 0: unknown
	elapsed, limit          uint32 // seconds; limit 0: unknown
	priority                uint32 // 0: unknown
	owner, ask, state       uint32
	line                    uint32
	name                    uint32 // 1 + its number in log.names; 0: not there
	text                    string // name of the job, if name is 0
	place                   uint32 // number of the row
}

// byStart orders the runs of one job number: parts one after another, each by time.
func byStart(a, b *run) int {
	return cmp.Or(cmp.Compare(a.id.part, b.id.part), cmp.Compare(a.submit, b.submit), cmp.Compare(a.start, b.start),
		cmp.Compare(a.elapsed, b.elapsed), cmp.Compare(a.place, b.place))
}

// numbers returns the fields of a run as numbers. Most differ little from the row before.
func (r *run) numbers() [14]uint64 {
	return [...]uint64{
		r.id.number, uint64(r.id.part), uint64(r.id.cluster), uint64(r.submit), uint64(r.eligible - r.submit), uint64(r.start - r.eligible),
		uint64(r.elapsed), uint64(r.limit), uint64(r.priority), uint64(r.owner), uint64(r.ask), uint64(r.state), uint64(r.line), uint64(r.name),
	}
}

// pack appends a run as its differences from the run before it. Most of them take one byte.
func (r *run) pack(b []byte, last *run) []byte {
	before := last.numbers()
	for k, n := range r.numbers() {
		b = binary.AppendVarint(b, int64(n-before[k]))
	}
	if r.name > 0 {
		return b
	}
	same := 0
	for same < min(len(r.text), len(last.text)) && r.text[same] == last.text[same] {
		same++
	}
	b = binary.AppendUvarint(b, uint64(same))
	b = binary.AppendUvarint(b, uint64(len(r.text)-same))
	return append(b, r.text[same:]...)
}

// unpack replaces r, the run before, by the run at the start of b, and returns the rest of b.
func (r *run) unpack(b []byte) []byte {
	n := r.numbers()
	for k := range n {
		d, size := binary.Varint(b)
		n[k] += uint64(d)
		b = b[size:]
	}
	place, text := r.place+1, r.text
	if n[13] == 0 {
		same, size := binary.Uvarint(b)
		b = b[size:]
		more, size := binary.Uvarint(b)
		b = b[size:]
		text, b = text[:same]+string(b[:more]), b[more:]
	}
	submit, eligible := uint32(n[3]), uint32(n[3]+n[4])
	*r = run{
		id: key{number: n[0], part: uint32(n[1]), cluster: uint16(n[2])}, submit: submit, eligible: eligible, start: eligible + uint32(n[5]),
		elapsed: uint32(n[6]), limit: uint32(n[7]), priority: uint32(n[8]), owner: uint32(n[9]), ask: uint32(n[10]), state: uint32(n[11]),
		line: uint32(n[12]), name: uint32(n[13]), text: text, place: place,
	}
	return b
}

// runs is a list of packed runs in the order of the input, which needs 20 to 30 bytes for each.
type runs struct {
	blocks   [][]byte // of blockRuns runs each
	open     []byte   // the last block, not full yet
	chunk    []byte   // where blocks are stored
	count    uint32
	last     run
	previous key
	parted   bool // some runs are parts of heterogeneous jobs
	// Some run does not have a larger number, or a larger key, than the run before it.
	numbersRepeat, keysRepeat bool
}

const (
	blockRuns  = 32
	chunkBytes = 1 << 20
)

func (l *runs) add(r *run) {
	l.order(&r.id)
	if l.count%blockRuns == 0 {
		l.seal()
	}
	l.open = r.pack(l.open, &l.last)
	text := l.last.text
	if r.name == 0 {
		text = r.text
	}
	l.last, l.last.text = *r, text
	l.count++
}

func (l *runs) order(id *key) {
	l.parted = l.parted || id.part >= heterogeneous
	l.numbersRepeat = l.numbersRepeat || l.count > 0 && byNumber(&l.previous, id) >= 0
	l.keysRepeat = l.keysRepeat || l.count > 0 && byKey(&l.previous, id) >= 0
	l.previous = *id
}

type place struct {
	id key
	at uint32
}

// repeated returns, by job, the places of all runs that share a job with another run, and of some that do not: those
// whose hash another job has.
func (l *runs) repeated() []place {
	if !l.keysRepeat && (!l.parted || !l.numbersRepeat) {
		return nil
	}
	shift := 64 - bits.Len32(4*l.count) // 4 to 8 hashes per run
	marks := make([]uint8, 1<<(64-shift))
	l.each(func(r *run) bool {
		mark := &marks[l.hash(&r.id)>>shift]
		*mark = min(*mark+1, 2)
		return true
	})
	var places []place
	l.each(func(r *run) bool {
		if marks[l.hash(&r.id)>>shift] > 1 {
			places = append(places, place{r.id, r.place})
		}
		return true
	})
	slices.SortFunc(places, func(a, b place) int { return cmp.Or(l.byJob(&a.id, &b.id), cmp.Compare(a.at, b.at)) })
	return places
}

// hash returns the same number for runs of the same job.
func (l *runs) hash(id *key) uint64 {
	part := uint64(id.part)
	if l.parted {
		part = 0
	}
	return (id.number<<20 + part<<4 + uint64(id.cluster)) * 0x9e3779b97f4a7c15 // 2^64 by the golden ratio
}

// byJob compares keys so that runs that may belong to one job are equal.
func (l *runs) byJob(a, b *key) int {
	if l.parted {
		return byNumber(a, b)
	}
	return byKey(a, b)
}

func byKey(a, b *key) int { return cmp.Or(byNumber(a, b), cmp.Compare(a.part, b.part)) }

func (l *runs) seal() {
	if l.count > 0 {
		if cap(l.chunk)-len(l.chunk) < len(l.open) {
			l.chunk = make([]byte, 0, max(chunkBytes, len(l.open)))
		}
		from := len(l.chunk)
		l.chunk = append(l.chunk, l.open...)
		l.blocks = append(l.blocks, l.chunk[from:len(l.chunk):len(l.chunk)])
	}
	l.open, l.last = l.open[:0], run{}
}

// each calls do with all runs in order until do returns false. The run changes with the next call.
func (l *runs) each(do func(*run) bool) {
	for block := uint32(0); block*blockRuns < l.count; block++ {
		r, rest := l.block(block)
		for len(rest) > 0 {
			if rest = r.unpack(rest); !do(&r) {
				return
			}
		}
	}
}

// at returns the run at a place; it unpacks half a block on average.
func (l *runs) at(place uint32) run {
	r, rest := l.block(place / blockRuns)
	for range place%blockRuns + 1 {
		rest = r.unpack(rest)
	}
	return r
}

// block returns the packed runs of a block, and the run from which the first one differs.
func (l *runs) block(block uint32) (before run, packed []byte) {
	before.place = block*blockRuns - 1 // the next is 0 after the largest number
	if int(block) < len(l.blocks) {
		return before, l.blocks[block]
	}
	return before, l.open
}

func byNumber(a, b *key) int {
	return cmp.Or(cmp.Compare(a.cluster, b.cluster), cmp.Compare(a.number, b.number))
}
