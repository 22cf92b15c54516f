package submesh

import "github.com/oxgang/oxgang/model/cluster"

const rounding = 1e-9

// bookHost books the CPUs and memory that the plan names for g GPUs of a job; a negative g frees them.
func (pl *Placer) bookHost(job, n, g int32) {
	if !pl.counts {
		return
	}
	w, room := pl.wish(job, g), &pl.room[n]
	room.CPUs -= w.CPUs
	room.Memory -= w.Memory
}

func (pl *Placer) wish(job, g int32) cluster.Resources {
	a := &pl.p.Jobs[job].Allocation
	return cluster.Resources{CPUs: a.CPUs * float64(g) / float64(a.GPUs), Memory: a.Memory / int64(a.GPUs) * int64(g)}
}

func (pl *Placer) fitHost(p piece) int32 {
	best, w := int32(-1), pl.wish(p.job, p.size)
	for _, i := range pl.poolAt(p).nodes {
		n, room := &pl.nodes[i], &pl.room[i]
		if n.free < p.size || room.CPUs < w.CPUs-rounding || room.Memory < w.Memory {
			continue
		}
		if best < 0 || pl.tighter(i, best) {
			best = i
		}
	}
	return best
}

func (pl *Placer) tighter(a, b int32) bool {
	x, y := &pl.nodes[a], &pl.nodes[b]
	if idleX, idleY := x.free == x.size, y.free == y.size; idleX != idleY {
		return idleY
	}
	if x.free != y.free {
		return x.free < y.free
	}
	return pl.room[a].CPUs < pl.room[b].CPUs
}
