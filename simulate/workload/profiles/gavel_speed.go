package profiles

import (
	"cmp"
	"slices"

	"github.com/oxgang/oxgang/model/cluster"
)

type stepShape struct {
	gpuType cluster.GPUType
	gpus    int
	spread  bool // on several nodes
}

// stepRates are measured steps per second: the Speed of Gavel's applications. Batch sizes and numbers of
// GPUs without measurement do not run.
type stepRates struct {
	shapes map[stepShape]series
	zeros  map[stepShape][]int
}

func (s *stepRates) add(shape stepShape, local int, rate float64) bool {
	if s.shapes == nil {
		s.shapes, s.zeros = map[stepShape]series{}, map[stepShape][]int{}
	}
	all := s.shapes[shape]
	i, found := slices.BinarySearchFunc(all, float64(local), func(p point, b float64) int { return cmp.Compare(p.local, b) })
	if found || slices.Contains(s.zeros[shape], local) {
		return false
	}
	if rate == 0 {
		s.zeros[shape] = append(s.zeros[shape], local)
		return true
	}
	s.shapes[shape] = slices.Insert(all, i, point{local: float64(local), step: float64(shape.gpus) / rate})
	return true
}

func (s *stepRates) on(t cluster.GPUType, shape []int) series {
	nodes, gpus := 0, 0
	for _, n := range shape {
		if n > 0 {
			nodes, gpus = nodes+1, gpus+n
		}
	}
	if nodes > 1 {
		if all, ok := s.shapes[stepShape{t, gpus, true}]; ok {
			return all
		}
	}
	return s.shapes[stepShape{t, gpus, false}]
}

func (s *stepRates) Step(t cluster.GPUType, shape []int, local int) (step, sync float64, ok bool) {
	all := s.on(t, shape)
	i, found := slices.BinarySearchFunc(all, float64(local), func(p point, b float64) int { return cmp.Compare(p.local, b) })
	if !found {
		return 0, 0, false
	}
	return all[i].step, 0, true
}

func (s *stepRates) LocalRange(t cluster.GPUType, shape []int) (least, most int) {
	all := s.on(t, shape)
	if len(all) == 0 {
		return 0, 0
	}
	return all.bounds()
}
