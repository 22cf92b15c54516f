package copter

import (
	"math"

	"github.com/oxgang/oxgang/opt/lp"
)

const (
	noRow    uint8 = iota
	coupling       // its multiplier is in y
	blockRow
)

type shape struct {
	kind   []uint8 // by row slot
	stamp  []uint32
	index  []int32 // by row slot; -1 of other rows
	rows   []int32
	blocks []int32
	loose  []uint32
	size   float64 // mean nonzero |cost|
}

func (h *shape) reshape(p *lp.Problem, last bool) {
	if !last || !h.carry(p) {
		h.decide(p)
	}
	h.list(p)
}

// carry keeps the kinds of unchanged rows, decides new ones, and reports whether every column is covered.
func (h *shape) carry(p *lp.Problem) bool {
	for len(h.kind) < p.RowSlots() {
		h.kind, h.stamp = append(h.kind, noRow), append(h.stamp, 0)
	}
	if len(h.kind) > p.RowSlots() {
		return false
	}
	for i := range h.kind {
		if h.stamp[i] == p.RowStamp(i) {
			continue
		}
		h.kind[i], h.stamp[i] = noRow, p.RowStamp(i)
		if p.HasRow(i) {
			h.kind[i] = h.kindOfNew(p, i)
		}
	}
	covered := 0
	for i, k := range h.kind {
		if k == blockRow {
			covered += len(p.RowCols(i))
		}
	}
	kept := h.loose[:0]
	for _, j := range h.loose {
		if int(j) < p.ColSlots() && p.HasCol(int(j)) && h.home(p, int(j)) < 0 {
			kept = append(kept, j)
		}
	}
	h.loose = kept
	return covered+len(h.loose) == p.Cols()
}

// kindOfNew makes a new row a block if none of its columns has one.
func (h *shape) kindOfNew(p *lp.Problem, i int) uint8 {
	cols := p.RowCols(i)
	if len(cols) == 0 {
		return coupling
	}
	for _, j := range cols {
		if h.home(p, int(j)) >= 0 {
			return coupling
		}
	}
	return blockRow
}

func (h *shape) home(p *lp.Problem, j int) int {
	rows, _ := p.Entries(j)
	for _, r := range rows {
		if h.kind[r] == blockRow {
			return int(r)
		}
	}
	return -1
}

const undecided uint8 = 3

// short bounds short rows: a row of one column is a block only if no row of 2 to short columns can be.
const short = 64

const maxContests = 20

// decide chooses blocks anew: of rows that share a column the shortest wins.
func (h *shape) decide(p *lp.Problem) {
	n := p.RowSlots()
	h.kind, h.stamp = make([]uint8, n), make([]uint32, n)
	order := rank(p)
	for i := range h.kind {
		h.stamp[i] = p.RowStamp(i)
		low, up := p.Sides(i)
		switch {
		case !p.HasRow(i):
		case order[i] == 0 || math.IsInf(low, -1) && math.IsInf(up, 1):
			h.kind[i] = coupling
		default:
			h.kind[i] = undecided
		}
	}
	beaten := make([]bool, n)
	for left, turn := true, 0; left && turn < maxContests; turn++ {
		clear(beaten)
		for j := range p.ColSlots() {
			h.contest(p, j, order, beaten)
		}
		left = false
		for i, k := range h.kind {
			if k == undecided && !beaten[i] {
				h.kind[i], left = blockRow, true
			}
		}
	}
	for i, k := range h.kind {
		if k == undecided {
			h.kind[i] = coupling
		}
	}
	h.loose = h.loose[:0]
	for j := range p.ColSlots() {
		if p.HasCol(j) && h.home(p, j) < 0 {
			h.loose = append(h.loose, uint32(j))
		}
	}
}

func rank(p *lp.Problem) []int32 {
	order := make([]int32, p.RowSlots())
	for j := range p.ColSlots() {
		rows, _ := p.Entries(j)
		for _, r := range rows {
			order[r]++
		}
	}
	for i, n := range order {
		switch {
		case n == 1:
			order[i] = short + 1
		case n > short:
			order[i]++
		}
	}
	return order
}

func (h *shape) contest(p *lp.Problem, j int, order []int32, beaten []bool) {
	rows, _ := p.Entries(j)
	if h.home(p, j) >= 0 {
		for _, r := range rows {
			if h.kind[r] == undecided {
				h.kind[r] = coupling
			}
		}
		return
	}
	best := -1
	for _, r := range rows {
		if h.kind[r] != undecided {
			continue
		}
		if best >= 0 && (order[best] < order[r] || order[best] == order[r] && best < int(r)) {
			beaten[r] = true
			continue
		}
		if best >= 0 {
			beaten[best] = true
		}
		best = int(r)
	}
}

func (h *shape) list(p *lp.Problem) {
	h.rows, h.blocks, h.index = h.rows[:0], h.blocks[:0], h.index[:0]
	for i, k := range h.kind {
		h.index = append(h.index, -1)
		switch k {
		case coupling:
			h.index[i] = int32(len(h.rows))
			h.rows = append(h.rows, int32(i))
		case blockRow:
			h.blocks = append(h.blocks, int32(i))
		}
	}
	total, n := 0.0, 0
	for _, c := range p.Costs() {
		if c != 0 {
			total += math.Abs(c)
			n++
		}
	}
	h.size = 1
	if n > 0 {
		h.size = total / float64(n)
	}
}
