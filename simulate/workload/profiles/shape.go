package profiles

// A shapeKey encodes a placement shape up to rotation: the lexicographically smallest rotation of its
// GPU counts without zeros, four bits per node, first node highest. 0 stands for shapes without a key:
// no GPUs, more than 16 nodes, or more than 15 GPUs on a node.
//
// Rotations are equal because GPUs form rings: (4, 2, 4) equals (2, 4, 4), but not (3, 4, 2).
type shapeKey uint64

// Limits of a shapeKey.
const (
	keyNodes = 16
	keyGPUs  = 15
)

func summarise(shape []int) (key shapeKey, nodes, gpus int) {
	small := true
	for _, n := range shape {
		if n <= 0 {
			continue
		}
		nodes++
		gpus += n
		small = small && n <= keyGPUs
		key = key<<4 | shapeKey(n)
	}
	if !small || nodes > keyNodes {
		return 0, nodes, gpus
	}
	return smallestRotation(key, nodes), nodes, gpus
}

// smallestRotation returns the least rotation of a key's n digits; numeric order is lexicographic order.
func smallestRotation(key shapeKey, n int) shapeKey {
	if n < 2 {
		return key
	}
	top := 4 * uint(n-1)
	least := key
	for r := key; ; {
		last := r & 0xf
		r = r>>4 | last<<top
		if r == key { // all rotations were compared
			return least
		}
		least = min(least, r)
	}
}

func parseShape(digits string) (key shapeKey, nodes, gpus int, ok bool) {
	if digits == "" || len(digits) > keyNodes {
		return 0, 0, 0, false
	}
	shape := make([]int, len(digits))
	for i := range len(digits) {
		if digits[i] < '1' || digits[i] > '9' {
			return 0, 0, 0, false
		}
		shape[i] = int(digits[i] - '0')
	}
	key, nodes, gpus = summarise(shape)
	return key, nodes, gpus, true
}

func wholeNodes(n, gpus int) shapeKey {
	if n < 1 || n > keyNodes || gpus%n != 0 || gpus/n > keyGPUs {
		return 0
	}
	var key shapeKey
	for range n {
		key = key<<4 | shapeKey(gpus/n)
	}
	return key
}
