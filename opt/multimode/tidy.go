package multimode

import (
	"math/bits"
)

func (k *packing) tidy(i int) {
	j := &k.p.Jobs[i]
	for _, piece := range pieces(k.runs[i].Rounds) {
		for _, to := range beside(k.runs[i].Rounds&^piece, piece, k.p.Rounds) {
			r := k.runs[i]
			fewer := j.further(r) - j.further(Run{r.Mode, r.Rounds&^piece | to})
			if fewer > 0 && k.transfer(i, piece, to, j.Again*float64(fewer)) {
				break
			}
		}
	}
}

func pieces(rounds uint64) []uint64 {
	var all []uint64
	for rounds != 0 {
		low := rounds & -rounds
		piece := rounds &^ (rounds + low)
		all = append(all, piece)
		rounds &^= piece
	}
	return all
}

func beside(others, piece uint64, rounds int) []uint64 {
	n := bits.OnesCount64(piece)
	starts := []int{0}
	for _, other := range pieces(others) {
		starts = append(starts, bits.Len64(other), bits.TrailingZeros64(other)-n)
	}
	var places []uint64
	for _, t := range starts {
		if t >= 0 && t+n <= rounds && ones(t, n)&others == 0 {
			places = append(places, ones(t, n))
		}
	}
	return places
}

func (k *packing) transfer(i int, piece, to uint64, limit float64) bool {
	k.log = k.log[:0]
	mode := k.runs[i].Mode
	m := &k.p.Jobs[i].Modes[mode]
	for ; piece != 0; piece &= piece - 1 {
		k.drop(i, bits.TrailingZeros64(piece))
	}
	for ; to != 0; to &= to - 1 {
		t := bits.TrailingZeros64(to)
		cost, ok := k.makeRoom(m, t, limit)
		if !ok {
			k.undo(0)
			return false
		}
		limit -= cost
		k.take(i, mode, t)
	}
	return true
}
